#include <stdio.h>
#include <string.h>

#include "probe.h"

/* All options of a tweak, and all ways to use it other than by value. */
#define FORM(...) FBTweakValue("Probe", "Forms", __VA_ARGS__)

static int acted;
static void act(void) {
  acted += 1;
}
static void act_too(void) {
  acted += 10;
}
FBTweakAction("Probe", "Forms", "Action in a File", act, FBTweakDescription("adds 1"));

/* Runs what the section has, as an object file's pointers are right only when they are relocated.
 */
static int run_actions(void) {
  FBTweakAction("Probe", "Forms", "Action in a Function", act_too);
#ifdef PROBE_CONSTANTS
  act();
  act_too();
#else
  extern unsigned char __start_fbtweak[], __stop_fbtweak[];
  uint32_t size;
  for (unsigned char *record = __start_fbtweak; record < __stop_fbtweak;
       record += size ? size : 8) {
    struct {
      uint32_t size;
      uint8_t version, kind, type, flags;
      union {
        void (*call)(void *);
        uint64_t bits;
      } function;
      void *context;
    } action;
    memcpy(&size, record, sizeof size);
    if (size == 0 || record[5] != FBTWEAK_KIND_ACTION)
      continue;
    memcpy(&action, record, sizeof action);
    action.function.call(action.context);
  }
#endif
  return acted;
}

/* Puts a store into the mailbox of the gate, as the library would, and passes twice. */
static int32_t gated = 1;
static void pass_gate(void) {
#if defined(PROBE_CONSTANTS) || !FBTWEAK__HAS_GATES
  gated = gated == 1 ? 2 : gated;
#else
  extern unsigned char __start_fbtweak[], __stop_fbtweak[];
  uint32_t size;
  for (unsigned char *record = __start_fbtweak; record < __stop_fbtweak && gated == 1;
       record += size ? size : 8) {
    memcpy(&size, record, sizeof size);
    if (size == 0 || record[5] != FBTWEAK_KIND_GATE)
      continue;
    struct fbtweak__gate *gate = (struct fbtweak__gate *)(void *)record;
    struct fbtweak__store *store =
        (struct fbtweak__store *)(void *)(record + gate->fbtweak__stores);
    int32_t value = 2;
    store->fbtweak__cell = (uintptr_t)&gated;
    memcpy(&store->fbtweak__bits, &value, sizeof value);
    store->fbtweak__size = sizeof value;
    __atomic_store_n(&gate->fbtweak__state, 1, __ATOMIC_RELEASE);
  }
#endif
  FBTweakGate("Probe", "Gate");
}

struct probe_set {
  int first;
  double second;
};
static inline struct probe_set probe_set(void) {
  struct probe_set set = {FBTweakValue("Probe", "Set", "First", 61),
                          FBTweakValue("Probe", "Set", "Second", 0.5)};
  return set;
}

static uint8_t level;
static const char *volatile text;
static double ratio;
static fbtweak_color opaque;

void probe_forms(void) {
  printf("widths %d %d %d %lld\n", FORM("Int8", (int8_t)-128), FORM("Int16", (int16_t)-300),
         FORM("Int32", (int32_t)-70000), (long long)FORM("Int64", (int64_t)-5000000000));
  printf("unsigned widths %d %d %u %llu\n", FORM("UInt8", (uint8_t)200, 100, 255),
         FORM("UInt16", (uint16_t)65535), FORM("UInt32", (uint32_t)4000000000u),
         (unsigned long long)FORM("UInt64", (uint64_t)9000000000000000000));
  printf("float %g\n", FORM("Float", 0.25f, -1, 1));
  printf("options %g\n", FORM("Options", 0.5, 0.125, 2, FBTweakStep(0.25), FBTweakPrecision(2),
                              FBTweakUnit("kg"), FBTweakScale("log"), FBTweakPair("Float"),
                              FBTweakDescription("says all"), FBTweakReadOnly, FBTweakNeedsRestart,
                              FBTweakOwner("us"), FBTweakExpires("9999-12-31")));
  printf("choices %d %d %g %s\n", FORM("Choices", 48000, FBTweakChoices(44100, 48000, 96000)),
         FORM("Labelled", (int16_t)2, FBTweakChoices((1, "easy"), (2, "hard"))),
         FORM("Real Choices", 2.5, FBTweakChoices(1, 2.5), FBTweakUnit("s")),
         FORM("Text Choices", "mono", FBTweakChoices("mono", ("sans", "Sans Serif"))));
  fbtweak_color color = FORM("Colour", FBTweakRGBA(1, 2, 254, 128), FBTweakReadOnly);
  printf("colour %d %d %d %d\n", color.red, color.green, color.blue, color.alpha);

  FBTweakBind(opaque, "Probe", "Forms", "Bound Colour", FBTweakRGB(0x33, 0x66, 0xcc));
  printf("bound colour %d %d %d %d\n", opaque.red, opaque.green, opaque.blue, opaque.alpha);
  FBTweakUnbind(opaque);
  FBTweakBind(level, "Probe", "Forms", "Bound", 200, 0, 255, FBTweakStep(5));
  FBTweakBind(text, "Probe", "Forms", "Bound Text", "bound");
  FBTweakBind(ratio, "Probe", "Forms", "Bound Double", 1, FBTweakChoices(0.5, 1));
  printf("bound %d %s %g\n", level, text, ratio);
  FBTweakUnbind(level);
  FBTweakUnbind(text);
  FBTweakUnbind(ratio);
  printf("handle %d\n", FBTweakInline("Probe", "Forms", "Handle", 7, 0, 10) != NULL);
  printf("acted %d\n", run_actions());
  pass_gate();
  pass_gate();
  struct probe_set set = {0, 0};
  bool is_taken = FBTweakTake(probe_set(), &set);
  printf("gate %d, taken %d %d %g\n", gated, is_taken, set.first, set.second);
}
