/* SPDX-License-Identifier: BSD-3-Clause */
#include "values.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "started.h"

static int (*has_slot)(int slot, int value);
static int (*uses_presets)(void);
void started_take_part(int (*has)(int slot, int value), int (*uses)(void)) {
  has_slot = has;
  uses_presets = uses;
}
bool main_uses_presets(void) {
  return !uses_presets || uses_presets();
}

static const char *const states[] = {"none",      "few",         "overrides", "features",
                                     "providers", "environment", "corrupt",   "others"};

enum state state_named(const char *name) {
  for (int state = NONE; state < UNKNOWN_STATE; state++)
    if (strcmp(states[state], name) == 0)
      return state;
  return UNKNOWN_STATE;
}
bool has_overrides(enum state state) {
  return state != NONE && state != CORRUPT;
}

#define EACH_SLOT(do)                                                                                            \
  do                                                                                                             \
  (0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15) do(16) do( \
      17) do(18) do(19) do(20) do(21) do(22) do(23) do(24) do(25) do(26) do(27) do(28) do(29) do(30) do(31)
#define EACH_LIMIT(do)                                                                             \
  do                                                                                               \
  (0) do(1) do(2) do(3) do(4) do(5) do(6) do(7)

int slot(int number) {
  switch (number) {
#define SLOT(number_)                                                                              \
  case number_:                                                                                    \
    return FBTweakValue("Start", "Slots", "Slot " #number_, number_, 0, 1000000);
    EACH_SLOT(SLOT)
#undef SLOT
  }
  return -1;
}
static int limit(int number) {
  switch (number) {
#define LIMIT(number_)                                                                             \
  case number_:                                                                                    \
    return FBTweakValue("Features", "Limits", "limit" #number_, number_);
    EACH_LIMIT(LIMIT)
#undef LIMIT
  }
  return -1;
}
const fbtweak *slot_handle(int number) {
  char name[16];
  snprintf(name, sizeof(name), "Slot %d", number);
  return fbtweak_find("Start", "Slots", name);
}

/* The value read by the other library, or 0 if it is not loaded. */
static int other(int which) {
  int (*read)(int) = NULL;
  *(void **)&read = dlsym(RTLD_DEFAULT, "started_other_value");
  return read ? read(which) : 0;
}

static struct values current(void) {
  struct values values = {
      .flag = FBTweakValue("Start", "Values", "Flag", false),
      .count = FBTweakValue("Start", "Values", "Count", 5, 0, 1000, FBTweakUnit("pieces")),
      .ratio = FBTweakValue("Start", "Values", "Ratio", 0.5, 0.0, 1.0),
      .text = FBTweakValue("Start", "Values", "Text", "hello"),
      .ink = FBTweakValue("Start", "Values", "Ink", FBTweakRGB(0x33, 0x66, 0xcc)),
      .mode = FBTweakValue("Start", "Values", "Mode", "slow", FBTweakChoices("slow", "fast")),
      .kelvin = FBTweakValue("Start", "K/e%lvin", "Unit \xE2\x84\xAA", 273),
      .umlaut = FBTweakValue("Start",
                             "Gr\xC3\xB6\xC3\x9F"
                             "e",
                             "\xC3\x84", 3),
      .search = FBTweakFeature("search", false),
      .history = FBTweakFeaturePart("search", "history", false),
  };
  for (int i = 0; i < SLOTS; i++)
    values.slots[i] = slot(i);
  for (int i = 0; i < LIMITS; i++)
    values.limits[i] = limit(i);
  values.other = other(0);
  return values;
}

struct values values_in(enum state state, bool with_overrides) {
  struct values right = {.flag = false,
                         .count = 5,
                         .ratio = 0.5,
                         .text = "hello",
                         .ink = FBTweakRGB(0x33, 0x66, 0xcc),
                         .mode = "slow",
                         .kelvin = 273,
                         .umlaut = 3};
  for (int i = 0; i < SLOTS; i++)
    right.slots[i] = i;
  for (int i = 0; i < LIMITS; i++)
    right.limits[i] = i;
  if (state == FEATURES)
    right.search = right.history = true;
  if (state == PROVIDERS)
    for (int i = 1; i < LIMITS; i++)
      right.limits[i] = 500 + i;
  if (state == OTHERS)
    right.other = 40;
  if (with_overrides && state == FEW) {
    right.flag = true;
    right.slots[20] = 1020;
  } else if (with_overrides && has_overrides(state)) {
    right.flag = true;
    right.count = 7;
    right.ratio = 0.25;
    right.text = "kept";
    right.ink = FBTweakRGB(0xff, 0, 0);
    right.mode = "fast";
    right.kelvin = 274;
    right.umlaut = 4;
    right.limits[2] = 102;
    for (int i = 0; i < SLOTS; i += 2)
      right.slots[i] = 1000 + i;
    if (state == OTHERS)
      right.other = 41;
  }
  /* Takes precedence over an override. */
  if (state == ENVIRONMENT) {
    right.count = 11;
    right.slots[1] = 3001;
    right.slots[8] = 3008;
  }
  return right;
}

void complain(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s\n", text);
}

/* The maximum number of failures reported by a comparison. */
enum { MOST = 3 };
static int complaints;
static void compare(const char *moment, const char *tweak, double is, double right) {
  if (is != right && complaints++ < MOST)
    complain("%s: %s is %g instead of %g", moment, tweak, is, right);
}
static void compare_texts(const char *moment, const char *tweak, const char *is,
                          const char *right) {
  if (strcmp(is, right) != 0 && complaints++ < MOST)
    complain("%s: %s is %s instead of %s", moment, tweak, is, right);
}
static double color_number(fbtweak_color color) {
  return color.red << 16 | color.green << 8 | color.blue;
}

static void compare_code(const char *moment, const struct values *is, const struct values *right) {
  compare(moment, "Flag", is->flag, right->flag);
  compare(moment, "Count", is->count, right->count);
  compare(moment, "Ratio", is->ratio, right->ratio);
  compare_texts(moment, "Text", is->text, right->text);
  compare(moment, "Ink", color_number(is->ink), color_number(right->ink));
  compare_texts(moment, "Mode", is->mode, right->mode);
  compare(moment, "Kelvin", is->kelvin, right->kelvin);
  compare(moment, "Umlaut", is->umlaut, right->umlaut);
  compare(moment, "search", is->search, right->search);
  compare(moment, "history", is->history, right->history);
  compare(moment, "the other library's", is->other, right->other);
  if (right->other)
    compare(moment, "Slot 4 in the other library", other(4), right->slots[4]);
  char name[32];
  for (int i = 0; i < SLOTS; i++) {
    snprintf(name, sizeof(name), "Slot %d", i);
    compare(moment, name, is->slots[i], right->slots[i]);
  }
  for (int i = 0; i < LIMITS; i++) {
    snprintf(name, sizeof(name), "limit%d", i);
    compare(moment, name, is->limits[i], right->limits[i]);
  }
}

static void compare_handle(const char *moment, const char *collection, const char *name,
                           double right) {
  const fbtweak *tweak = fbtweak_find("Start", collection, name);
  fbtweak_value value;
  char handle[64];
  snprintf(handle, sizeof(handle), "the handle of %s", name);
  if (!tweak) {
    if (complaints++ < MOST)
      complain("%s: there is no Start/%s/%s", moment, collection, name);
  } else if (fbtweak_read(tweak, &value) && value.type == FBTWEAK_TYPE_BOOL) {
    compare(moment, handle, value.boolean, right);
  } else {
    compare(moment, handle, fbtweak_read_number(tweak, -1), right);
  }
}

struct visited {
  int count, slots;
};
static bool visit(const fbtweak *tweak, void *context) {
  struct visited *visited = context;
  visited->count++;
  visited->slots += strcmp(fbtweak_collection(tweak), "Slots") == 0;
  return true;
}

static void compare_handles(const char *moment, const struct values *right) {
  compare_handle(moment, "Values", "Flag", right->flag);
  compare_handle(moment, "Values", "Count", right->count);
  compare_handle(moment, "Values", "Ratio", right->ratio);
  compare_handle(moment,
                 "Gr\xC3\xB6\xC3\x9F"
                 "e",
                 "\xC3\x84", right->umlaut);
  compare_handle(moment, "K/e%lvin", "Unit \xE2\x84\xAA", right->kelvin);
  char name[16];
  for (int i = 0; i < SLOTS; i++) {
    snprintf(name, sizeof(name), "Slot %d", i);
    compare_handle(moment, "Slots", name, right->slots[i]);
    if (has_slot && !has_slot(i, right->slots[i]) && complaints++ < MOST)
      complain("%s: %s is not %d for Swift", moment, name, right->slots[i]);
  }
  struct visited visited = {0, 0};
  size_t count = fbtweak_walk("Start", NULL, visit, &visited);
  compare(moment, "the number of tweaks", (double)count, visited.count);
  compare(moment, "the number of slots", visited.slots, SLOTS);
  /* Flag, Count, Ratio, Text, Ink, Mode, Kelvin, Umlaut, and those of the other library. */
  compare(moment, "the number of all", visited.count, SLOTS + 8 + (right->other ? 1 : 0));
}

bool verify(const struct values *right, const char *moment) {
  struct values is = current();
  complaints = 0;
  compare_code(moment, &is, right);
  compare_handles(moment, right);
  return complaints == 0;
}

bool are(const struct values *right) {
  struct values is = current();
  return is.flag == right->flag && is.count == right->count && is.ratio == right->ratio &&
         strcmp(is.text, right->text) == 0 && strcmp(is.mode, right->mode) == 0 &&
         is.kelvin == right->kelvin && is.umlaut == right->umlaut && is.search == right->search &&
         is.history == right->history && is.other == right->other &&
         color_number(is.ink) == color_number(right->ink) &&
         memcmp(is.slots, right->slots, sizeof(is.slots)) == 0 &&
         memcmp(is.limits, right->limits, sizeof(is.limits)) == 0;
}
