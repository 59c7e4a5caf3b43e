/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with tweaks of every type and option, which does what the lines of its standard input
 * say: a word and its arguments, separated by tabs. Prints an answer for each, which ends with a
 * zero byte.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fbtweak.h>

#define COUNT(array_) (sizeof(array_) / sizeof((array_)[0]))

/* What observers and actions have seen, until it is printed. Other threads write it, too. */
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static char seen[1 << 20];
static size_t seen_size;

static void see(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&seen_lock);
  int size = vsnprintf(seen + seen_size, sizeof seen - seen_size, format, arguments);
  if (size > 0 && (size_t)size < sizeof seen - seen_size)
    seen_size += (size_t)size;
  pthread_mutex_unlock(&seen_lock);
  va_end(arguments);
}

static int calls, other_calls;
static void call(void) {
  calls++;
  see("action\tCall\n");
}
static void call_otherwise(void) {
  other_calls++;
  see("action\tCall otherwise\n");
}
static void set_when_run(void) {
  const fbtweak *tweak = fbtweak_find("Forms", "Numbers", "Int32");
  int status = fbtweak_set_integer(tweak, (calls + other_calls) % 100);
  see("action\tSet\t%d\n", status);
}
static void made_action(void *context) {
  see("action\t%s\n", (const char *)context);
}

FBTweakAction("Forms", "Actions", "Call", call, FBTweakDescription("Counts calls."));
FBTweakAction("Forms", "Actions", "Call", call_otherwise);
FBTweakAction("Forms", "Actions", "Set", set_when_run, FBTweakOwner("nobody"));
FBTweakAction("Forms", "Actions", "Queued", call);

static struct {
  double gain;
  int8_t small;
  bool on;
} motor = {.gain = 0.5, .small = -3, .on = true};
static float curve[4] = {0.1f, 0.2f, 0.4f, 0.8f};
static fbtweak_color ink = {1, 2, 3, 255};
static uint64_t ticks = 7;
FBTweakVariable(motor.gain, "Forms", "Variables", "Gain", 0, 10, FBTweakPrecision(3))
    FBTweakVariable(motor.small, "Forms", "Variables", "Small")
        FBTweakVariable(motor.on, "Forms", "Variables", "On")
            FBTweakVariable(curve, "Forms", "Variables", "Curve", 0, 1)
                FBTweakVariable(ink, "Forms", "Variables", "Ink")
                    FBTweakVariable(ticks, "Forms", "Variables", "Ticks", 0, UINT64_MAX)

                        static void print_value(const fbtweak_value *value) {
  switch (value->type) {
  case FBTWEAK_TYPE_NONE:
    printf("none");
    break;
  case FBTWEAK_TYPE_BOOL:
    printf("%s", value->boolean ? "true" : "false");
    break;
  case FBTWEAK_TYPE_INT8:
  case FBTWEAK_TYPE_INT16:
  case FBTWEAK_TYPE_INT32:
  case FBTWEAK_TYPE_INT64:
    printf("%" PRId64, value->integer);
    break;
  case FBTWEAK_TYPE_UINT8:
  case FBTWEAK_TYPE_UINT16:
  case FBTWEAK_TYPE_UINT32:
  case FBTWEAK_TYPE_UINT64:
    printf("%" PRIu64, value->natural);
    break;
  case FBTWEAK_TYPE_FLOAT:
  case FBTWEAK_TYPE_DOUBLE:
    printf("%a", value->number);
    break;
  case FBTWEAK_TYPE_STRING:
    printf("\"%s\"", value->text);
    break;
  case FBTWEAK_TYPE_COLOR:
    printf("#%02x%02x%02x%02x", value->color.red, value->color.green, value->color.blue,
           value->color.alpha);
    break;
  default:
    printf("an action");
    break;
  }
}

static void print_macros(void) {
  printf("%s %d", FBTweakValue("Forms", "Switches", "Flag", true) ? "on" : "off",
         FBTweakValue("Forms", "Switches", "Plain", false));
  printf(" %d %d %d %" PRId64, FBTweakValue("Forms", "Numbers", "Int8", (int8_t)-5),
         FBTweakValue("Forms", "Numbers", "Int16", (int16_t)500, -1000, 1000, FBTweakStep(10)),
         FBTweakValue("Forms", "Numbers", "Int32", 42, 0, 100, FBTweakUnit("kg")),
         (int64_t)FBTweakValue("Forms", "Numbers", "Int64", (int64_t)-9007199254740993));
  printf(" %u %u %u %" PRIu64, FBTweakValue("Forms", "Numbers", "UInt8", (uint8_t)200),
         FBTweakValue("Forms", "Numbers", "UInt16", (uint16_t)60000, 10, 65000),
         FBTweakValue("Forms", "Numbers", "UInt32", 4000000000u),
         (uint64_t)FBTweakValue("Forms", "Numbers", "UInt64", (uint64_t)18446744073709551615u));
  printf(" %a %a %a %a",
         (double)FBTweakValue("Forms", "Numbers", "Float", 0.1f, -10, 10, FBTweakPrecision(2)),
         (double)FBTweakValue("Forms", "Numbers", "Wide float", 1e30f),
         FBTweakValue("Forms", "Numbers", "Double", 120.0, 1, 1000, FBTweakScale("log"),
                      FBTweakDescription("A number with \"quotes\" and Ümläute.")),
         FBTweakValue("Forms", "Numbers", "Wide double", 1e-300));
  printf(" %a %a", FBTweakValue("Forms", "Numbers", "X", 0.0, -1, 1, FBTweakPair("Y")),
         FBTweakValue("Forms", "Numbers", "Y", 0.0, -1, 1));
  printf(" [%s] [%s]", FBTweakValue("Forms", "Texts", "Text", "hello"),
         FBTweakValue("Forms", "Texts", "Empty", ""));
  printf(
      " [%s] %d %a",
      FBTweakValue("Forms", "Choices", "Shape", "round",
                   FBTweakChoices("round", ("square", "Quadrat"), "ÉTOILE")),
      FBTweakValue("Forms", "Choices", "Rate", 48000,
                   FBTweakChoices((44100, "CD"), (48000, "DVD"), 96000)),
      FBTweakValue("Forms", "Choices", "Factor", 0.5, FBTweakChoices(0.25, 0.5, (1.0, "Whole"))));
  fbtweak_color color = FBTweakValue("Forms", "Colours", "Ink", FBTweakRGB(51, 102, 204));
  printf(" #%02x%02x%02x%02x", color.red, color.green, color.blue, color.alpha);
  printf(" %d %d", FBTweakValue("Forms", "Kept", "Version", 3, FBTweakReadOnly),
         FBTweakValue("Forms", "Kept", "Old", 9, FBTweakExpires("2020-01-31"),
                      FBTweakOwner("physics team")));
  printf(" %d [%s]", FBTweakValue("Forms", "Restart", "Threads", 4, 1, 64, FBTweakNeedsRestart),
         FBTweakValue("Forms", "Restart", "Path", "/tmp", FBTweakNeedsRestart));
  printf(" %d %d %d", FBTweakFeature("Sound", true), FBTweakFeaturePart("Sound", "Bass", false),
         FBTweakFeature("Search", false));
  printf(" %d %d %a %d", (int)FBTweakValue("Forms", "Control", "Edit", 0),
         (int)FBTweakValue("Forms", "Control", "Agent", 0),
         FBTweakValue("Forms", "Control", "Lease", 0.0),
         FBTweakValue("Forms", "Control", "Large", (int64_t)0));
  /* Names that differ only in form or case, and such as have both. */
  printf(" %d %d %d %d %d %d %d\n", FBTweakValue("Größen", "Älter", "Straße", 1),
         FBTweakValue("Größen", "Älter", "STRASSE", 2),
         FBTweakValue("Größen", "Älter", "Caf\xc3\xa9", 3),
         FBTweakValue("Größen", "Älter", "Cafe\xcc\x81", 4),
         FBTweakValue("Größen", "İstanbul ﬁ", "ΣΊΣΥΦΟΣ", 5),
         FBTweakValue("Größen", "İstanbul ﬁ", "a/b%c", 6),
         FBTweakValue("Größen", "👩‍👩‍👧 🇩🇪", "한글", 7));
}

/* The values of a set that a take copies, and those that a gate stores. */
struct set {
  double p, i, d;
};
static inline struct set taken_set(void) {
  return (struct set){FBTweakValue("Taken", "Set", "P", 1.0),
                      FBTweakValue("Taken", "Set", "I", 0.1, 0, 1),
                      FBTweakValue("Taken", "Set", "D", 0.01)};
}
static inline struct set gated_set(void) {
  return (struct set){FBTweakValue("Gated", "Set", "P", 1.0, 0, 100),
                      FBTweakValue("Gated", "Set", "I", 0.1f),
                      FBTweakValue("Gated", "Other", "D", 5)};
}
static void print_set(struct set set) {
  printf("%a %a %a\n", set.p, set.i, set.d);
}

static union bound {
  uint64_t bits;
  const char *text;
} bound[4];
static int bound_type[COUNT(bound)];
static fbtweak_token tokens[4];
static fbtweak_queue *queue;
static int macro_bound = 5;
static struct set copy;
static uint64_t copy_seen;

static void describe_value(const fbtweak_value *value, char *text, size_t size) {
  switch (value->type) {
  case FBTWEAK_TYPE_BOOL:
    snprintf(text, size, "%d", value->boolean);
    break;
  case FBTWEAK_TYPE_FLOAT:
  case FBTWEAK_TYPE_DOUBLE:
    snprintf(text, size, "%a", value->number);
    break;
  case FBTWEAK_TYPE_STRING:
    snprintf(text, size, "%s", value->text);
    break;
  default:
    snprintf(text, size, "%" PRId64, value->integer);
    break;
  }
}
static void note(const char *moment, const fbtweak_change *change) {
  char old_value[200], new_value[200];
  describe_value(&change->old_value, old_value, sizeof old_value);
  describe_value(&change->new_value, new_value, sizeof new_value);
  see("%s\t%s/%s/%s\t%s\t%s\t%s\n", moment, fbtweak_category(change->tweak),
      fbtweak_collection(change->tweak), fbtweak_name(change->tweak), old_value, new_value,
      change->source);
}
static void will_change(const fbtweak_change *change, void *context) {
  (void)context;
  note("will", change);
}
static void did_change(const fbtweak_change *change, void *context) {
  (void)context;
  note("did", change);
}

static bool visit(const fbtweak *tweak, void *context) {
  fbtweak_value value = {0};
  const char *source = fbtweak_source(tweak);
  bool has_value = fbtweak_read(tweak, &value);
  printf("%s/%s/%s %d %s ", fbtweak_category(tweak), fbtweak_collection(tweak), fbtweak_name(tweak),
         fbtweak_type(tweak), source ? source : "nowhere");
  if (has_value)
    print_value(&value);
  putchar('\n');
  if (context == NULL)
    return true;
  const char *label;
  if (fbtweak_default(tweak, &value))
    printf("  default "), print_value(&value);
  if (fbtweak_minimum(tweak, &value))
    printf("  minimum "), print_value(&value);
  if (fbtweak_maximum(tweak, &value))
    printf("  maximum "), print_value(&value);
  if (fbtweak_step(tweak, &value))
    printf("  step "), print_value(&value);
  for (size_t i = 0; fbtweak_choice(tweak, i, &value, &label); i++)
    printf("  choice "), print_value(&value), printf(" %s", label ? label : "without a label");
  static const char *const keys[] = {"unit",  "doc",     "precision", "scale",         "pair",
                                     "owner", "expires", "read-only", "needs-restart", "title",
                                     "group", "element", "optional"};
  for (size_t i = 0; i < COUNT(keys); i++)
    if (fbtweak_attribute(tweak, keys[i]))
      printf("  %s=%s", keys[i], fbtweak_attribute(tweak, keys[i]));
  printf("  %s\n", fbtweak_read_text(tweak, "no text"));
  return true;
}

static void print_values(void) {
  printf("%zu tweaks\n", fbtweak_walk(NULL, NULL, visit, NULL));
  print_macros();
  print_set(gated_set());
  printf("%a %d %d %a %a %a %a #%02x%02x%02x%02x %" PRIu64 "\n", motor.gain, motor.small, motor.on,
         (double)curve[0], (double)curve[1], (double)curve[2], (double)curve[3], ink.red, ink.green,
         ink.blue, ink.alpha, ticks);
  printf("bound %d", macro_bound);
  for (size_t i = 0; i < COUNT(bound); i++)
    if (bound_type[i] == FBTWEAK_TYPE_STRING)
      printf(" [%s]", bound[i].text ? bound[i].text : "null");
    else
      printf(" %" PRIx64, bound[i].bits);
  printf("\ncalls %d %d\n", calls, other_calls);
}

/* The arguments of the current line. */
static char *words[40];
static size_t word_count;
static const char *word(size_t index) {
  return index < word_count ? words[index] : "";
}
static const fbtweak *tweak_of(size_t index) {
  return fbtweak_find(word(index), word(index + 1), word(index + 2));
}
static void print_status(int status) {
  printf("%d%s%s\n", status, status < 0 ? " " : "", status < 0 ? fbtweak_error() : "");
}

/* A value of a type, from text. */
static fbtweak_value value_of(int type, const char *text) {
  fbtweak_value value = {.type = type};
  unsigned long long bits = strtoull(text, NULL, 0);
  switch (type) {
  case FBTWEAK_TYPE_BOOL:
    value.boolean = bits & 1;
    break;
  case FBTWEAK_TYPE_FLOAT:
  case FBTWEAK_TYPE_DOUBLE:
    value.number = strtod(text, NULL);
    break;
  case FBTWEAK_TYPE_STRING:
    value.text = text;
    break;
  case FBTWEAK_TYPE_COLOR:
    value.color = (fbtweak_color){bits & 255, bits >> 8 & 255, bits >> 16 & 255, bits >> 24 & 255};
    break;
  case FBTWEAK_TYPE_UINT8:
  case FBTWEAK_TYPE_UINT16:
  case FBTWEAK_TYPE_UINT32:
  case FBTWEAK_TYPE_UINT64:
    value.natural = bits;
    break;
  default:
    value.integer = strtoll(text, NULL, 0);
    break;
  }
  return value;
}

/* make CATEGORY COLLECTION NAME monitor|tweak TYPE DEFAULT MINIMUM MAXIMUM STEP CHOICES ATTRIBUTES;
   choices and attributes are separated by |, and what is empty is absent. */
static void make(void) {
  int type = atoi(word(5));
  fbtweak_declaration declaration = {.category = word(1),
                                     .collection = word(2),
                                     .name = word(3),
                                     .default_value = value_of(type, word(6))};
  if (*word(7))
    declaration.minimum = value_of(type, word(7));
  if (*word(8))
    declaration.maximum = value_of(type, word(8));
  if (*word(9))
    declaration.step = value_of(type, word(9));
  fbtweak_labelled_value choices[8] = {0};
  const char *attributes[9] = {0};
  size_t attribute_count = 0;
  char *rest;
  for (char *text = strtok_r(word_count > 10 ? words[10] : "", "|", &rest);
       text && declaration.choice_count < COUNT(choices); text = strtok_r(NULL, "|", &rest)) {
    char *label = strchr(text, '=');
    if (label)
      *label++ = 0;
    choices[declaration.choice_count++] = (fbtweak_labelled_value){value_of(type, text), label};
  }
  for (char *text = strtok_r(word_count > 11 ? words[11] : "", "|", &rest);
       text && attribute_count + 1 < COUNT(attributes); text = strtok_r(NULL, "|", &rest))
    attributes[attribute_count++] = text;
  declaration.choices = declaration.choice_count ? choices : NULL;
  declaration.attributes = attribute_count ? attributes : NULL;
  const fbtweak *made = strcmp(word(4), "monitor") == 0 ? fbtweak_make_monitor(&declaration)
                                                        : fbtweak_make(&declaration);
  if (made)
    visit(made, "");
  else
    printf("not made: %s\n", fbtweak_error());
}

static int set(size_t index) {
  const fbtweak *tweak = tweak_of(index);
  int type = atoi(word(index + 3));
  return type == 0 ? fbtweak_set_text(tweak, word(index + 4))
                   : fbtweak_set(tweak, value_of(type, word(index + 4)));
}

static void obey(char **arguments) {
  const char *name = word(0);
  size_t slot = strtoull(word(1), NULL, 0) % COUNT(bound);
  if (strcmp(name, "values") == 0) {
    print_values();
  } else if (strcmp(name, "declared") == 0) {
    fbtweak_walk(*word(1) ? word(1) : NULL, *word(2) ? word(2) : NULL, visit, "");
  } else if (strcmp(name, "seen") == 0) {
    pthread_mutex_lock(&seen_lock);
    fwrite(seen, 1, seen_size, stdout);
    seen_size = 0;
    pthread_mutex_unlock(&seen_lock);
  } else if (strcmp(name, "find") == 0) {
    const fbtweak *tweak = tweak_of(1);
    fbtweak_color color = fbtweak_read_color(tweak, (fbtweak_color){9, 9, 9, 9});
    printf("%d %" PRId64 " %a [%s] #%02x%02x%02x%02x\n", fbtweak_read_bool(tweak, false),
           fbtweak_read_integer(tweak, -1), fbtweak_read_number(tweak, -1.5),
           fbtweak_read_text(tweak, "none"), color.red, color.green, color.blue, color.alpha);
    if (tweak)
      visit(tweak, "");
    else
      printf("unknown: %s\n", fbtweak_error());
  } else if (strcmp(name, "set") == 0) {
    print_status(set(1));
  } else if (strcmp(name, "reset") == 0) {
    print_status(word_count == 1   ? fbtweak_reset_all()
                 : word_count == 2 ? fbtweak_reset_category(word(1))
                 : word_count == 3 ? fbtweak_reset_collection(word(1), word(2))
                                   : fbtweak_reset(tweak_of(1)));
  } else if (strcmp(name, "run") == 0) {
    print_status(fbtweak_run(tweak_of(1)));
  } else if (strcmp(name, "make") == 0) {
    make();
  } else if (strcmp(name, "make-action") == 0) {
    printf("%d\n", fbtweak_make_action(word(1), word(2), word(3), made_action, "made") != NULL);
  } else if (strcmp(name, "remove") == 0) {
    print_status(fbtweak_remove(tweak_of(1)));
  } else if (strcmp(name, "bind") == 0) {
    fbtweak_unbind(&bound[slot]);
    bound[slot].bits = 0;
    bound_type[slot] = fbtweak_type(tweak_of(2));
    print_status(fbtweak_bind(tweak_of(2), &bound[slot]));
  } else if (strcmp(name, "unbind") == 0) {
    fbtweak_unbind(&bound[slot]);
  } else if (strcmp(name, "bind-macro") == 0) {
    FBTweakBind(macro_bound, "Forms", "Bound", "Macro", 5, 0, 50);
  } else if (strcmp(name, "unbind-macro") == 0) {
    FBTweakUnbind(macro_bound);
  } else if (strcmp(name, "observe") == 0) {
    fbtweak_unobserve(tokens[slot]);
    const fbtweak *tweak = *word(2) ? tweak_of(2) : NULL;
    tokens[slot] = slot == 3 && queue ? fbtweak_observe_in(queue, tweak, did_change, NULL)
                                      : fbtweak_observe(tweak, will_change, did_change, NULL);
    printf("%d\n", tokens[slot] != 0);
  } else if (strcmp(name, "unobserve") == 0) {
    fbtweak_unobserve(tokens[slot]);
    tokens[slot] = 0;
  } else if (strcmp(name, "queue") == 0) {
    if (queue)
      fbtweak_queue_destroy(queue);
    queue = *word(1) ? fbtweak_queue_make() : NULL;
    if (queue)
      printf("%d\n", fbtweak_run_in(queue, fbtweak_find("Forms", "Actions", "Queued")) != 0);
  } else if (strcmp(name, "deliver") == 0) {
    printf("%zu\n", queue ? fbtweak_queue_deliver(queue) : 0);
  } else if (strcmp(name, "gate") == 0) {
    FBTweakGate("Gated");
    print_set(gated_set());
  } else if (strcmp(name, "take") == 0) {
    if (FBTweakTake(taken_set(), &copy, &copy_seen))
      printf("new ");
    print_set(copy);
    struct set again;
    if (FBTweakTake(taken_set(), &again))
      print_set(again);
  } else if (strcmp(name, "store") == 0) {
    double number = strtod(word(2), NULL);
    switch (atoi(word(1))) {
    case 0:
      motor.gain = number;
      break;
    case 1:
      motor.small = (int8_t)number;
      break;
    case 2:
      motor.on = number > 0;
      break;
    case 3:
      curve[1] = (float)number;
      break;
    default:
      ticks = (uint64_t)(number < 0 ? 0 : number);
      break;
    }
  } else if (strcmp(name, "monitor") == 0) {
    double number = strtod(word(1), NULL);
    FBTweakMonitor("Forms", "Monitors", "Speed", number, 0, 8000, FBTweakUnit("rpm"),
                   FBTweakPrecision(1));
    FBTweakMonitor("Forms", "Monitors", "State", (uint8_t)((int)number & 3),
                   FBTweakChoices("off", "on", "odd", "broken"));
    FBTweakMonitor("Forms", "Monitors", "Moves", number > 0);
    fbtweak_store_number(tweak_of(2), number);
  } else if (strcmp(name, "flush") == 0) {
    fbtweak_flush();
  } else if (strcmp(name, "fork") == 0) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      print_status(set(1));
      fbtweak_flush();
      const fbtweak *tweak = tweak_of(1);
      if (tweak)
        visit(tweak, NULL);
      fflush(stdout);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
  } else if (strcmp(name, "exec") == 0) {
    fbtweak_flush();
    fflush(stdout);
    execv("/proc/self/exe", arguments);
  } else if (strcmp(name, "exit") == 0) {
    exit(atoi(word(1)));
  } else if (strcmp(name, "leave") == 0) {
    _exit(atoi(word(1)));
  } else {
    printf("what is %s?\n", name);
  }
}

int main(int count, char **arguments) {
  (void)count;
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  printf("started\n");
  putchar(0);
  fflush(stdout);
  char *line = NULL;
  size_t capacity = 0;
  /* The program reads single bytes, so that what is not yet read is still there after exec. */
  setvbuf(stdin, NULL, _IONBF, 0);
  for (ssize_t size; (size = getline(&line, &capacity, stdin)) > 0;) {
    if (line[size - 1] == '\n')
      line[size - 1] = 0;
    word_count = 0;
    for (char *rest = line; rest && word_count < COUNT(words);)
      words[word_count++] = strsep(&rest, "\t");
    obey(arguments);
    putchar(0);
    fflush(stdout);
  }
  free(line);
  return 3;
}
