/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for the tests of the page: tweaks of every kind, monitors, features, and hostile names.
 *
 *     page-program             one of each
 *     page-program many N      and N tweaks created at run time
 *     page-program flood N     the same, with 1,000 changes a second
 *     page-program forks N     N processes that it forks
 *
 * It exits when its standard input ends. SIGUSR1 keeps its loop from passing the gate, SIGUSR2 lets
 * it pass again.
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <fbtweak.h>

enum phase { IDLE, STARTING, RUNNING };

static atomic_int runs;

static void count(void) {
  atomic_fetch_add(&runs, 1);
}

FBTweakAction("Kinds", "Actions", "Count", count, FBTweakDescription("Adds one to Runs"));

static double read_kinds(void) {
  double sum = 0;
  sum += FBTweakValue("Kinds", "Numbers", "Stiffness", 120.0, 1, 1000, FBTweakUnit("N/m"),
                      FBTweakDescription("How hard the spring pulls"));
  sum += FBTweakValue("Kinds", "Numbers", "Stepped", 0.5, 0, 1, FBTweakStep(0.25));
  sum += FBTweakValue("Kinds", "Numbers", "Frequency", 440.0, 20, 20000, FBTweakUnit("Hz"),
                      FBTweakPrecision(1));
  sum += FBTweakValue("Kinds", "Numbers", "Unbounded", 0.0);
  sum += FBTweakValue("Kinds", "Numbers", "Negative", -3.5);
  sum += FBTweakValue("Kinds", "Numbers", "Single", 0.1f);
  sum += FBTweakValue("Kinds", "Numbers", "Count", 60, 20, 200);
  sum += FBTweakValue("Kinds", "Numbers", "Byte", (uint8_t)200);
  sum += FBTweakValue("Kinds", "Numbers", "Small", (int8_t)-5);
  sum += (double)FBTweakValue("Kinds", "Numbers", "Wide", (int64_t)9007199254740993);
  sum += (double)FBTweakValue("Kinds", "Numbers", "Natural", (uint64_t)18446744073709551614u);
  sum += FBTweakValue("Kinds", "Numbers", "Delay", 0.25, 0, 10, FBTweakUnit("s"));
  sum += FBTweakValue("Kinds", "Pad", "Position X", 0.25, 0, 1);
  sum += FBTweakValue("Kinds", "Pad", "Position Y", 0.75, 0, 1);
  sum += FBTweakValue("Kinds", "Pad", "Heading", 90.0, 0, 360, FBTweakPair("Climb"));
  sum += FBTweakValue("Kinds", "Pad", "Climb", 0, -45, 45);
  sum += FBTweakValue("Kinds", "Numbers", "Factor", 3.0, 1, 100, FBTweakScale("log"));
  sum += FBTweakValue("Kinds", "Numbers", "Plain", 500.0, 1, 10000, FBTweakScale("linear"));
  sum += FBTweakValue("Kinds", "Choices", "Quality", 1,
                      FBTweakChoices((0, "low"), (1, "mid"), (2, "high")));
  sum +=
      FBTweakValue("Kinds", "Choices", "Rate", 48000,
                   FBTweakChoices(8000, 11025, 16000, 22050, (44100, "CD"), (48000, "DVD"), 96000));
  sum += FBTweakValue("Kinds", "Others", "Switch", true);
  sum += FBTweakValue("Kinds", "Others", "Text", "hello")[0];
  sum += FBTweakValue("Kinds", "Others", "Lines", "one\ntwo")[0];
  sum += FBTweakValue("Kinds", "Others", "Colour", FBTweakRGB(51, 102, 204)).red;
  sum += FBTweakValue("Kinds", "Others", "Restarting", 4, 1, 16, FBTweakNeedsRestart);
  sum += FBTweakValue("Kinds", "Others", "Build", 17, FBTweakReadOnly);
  sum += FBTweakValue("Kinds", "Others", "Forgotten", 1.0, FBTweakExpires("2020-01-31"),
                      FBTweakOwner("physics team"));
  sum += FBTweakValue("Kinds", "Others", "From outside", 5, 0, 10);
#ifndef WITHOUT_MARKUP
  sum += FBTweakValue(
      "<img src=x onerror=document.title='broken'>", "<b>bold</b>", "<script>alert(1)</script>", 1,
      FBTweakDescription("</li><style>*{display:none}</style>\033[31m\007 &amp; \"quoted\""));
#endif
  return sum;
}

static int read_features(void) {
  return FBTweakFeature("Sound", true, FBTweakDescription("Everything that can be heard")) &&
         FBTweakFeaturePart("Sound", "Bass", true) &&
         FBTweakFeaturePart("Sound", "Bass/Boost", false) &&
         FBTweakFeature("Trails", false, FBTweakDescription("What moves leaves a trail")) &&
         FBTweakFeaturePart("Trails", "Fading", true) &&
         FBTweakFeaturePart("Trails", "Fading/Slow", true) && FBTweakFeature("Sharing", true);
}

static void show(double time) {
  double gain = FBTweakValue("Motor", "Control", "Gain", 0.8, 0, 5);
  double target = FBTweakValue("Motor", "Control", "Target", 4000.0, 0, 8000, FBTweakUnit("rpm"));
  double speed = target * (1 - exp(-fmod(time, 6) * (0.3 + gain))) + 120 * sin(time * 9) * gain;
  FBTweakMonitor("Motor", "State", "Speed", speed, 0, 8000, FBTweakUnit("rpm"),
                 FBTweakPrecision(0));
  FBTweakMonitor("Motor", "State", "Temperature", 48 + 9 * sin(time / 3) + gain * 4,
                 FBTweakUnit("°C"), FBTweakPrecision(1));
  enum phase phase = fmod(time, 6) < 0.4 ? IDLE : fmod(time, 6) < 2 ? STARTING : RUNNING;
  FBTweakMonitor("Motor", "State", "Phase", phase, FBTweakChoices("idle", "starting", "running"));
  FBTweakMonitor("Kinds", "Actions", "Runs", atomic_load(&runs));
}

static volatile sig_atomic_t is_held;

static void hold(int number) {
  is_held = number == SIGUSR1;
}

static double read_gated(void) {
  if (!is_held)
    FBTweakGate("Gated");
  return FBTweakValue("Gated", "Gains", "P", 1.0, 0, 10) +
         FBTweakValue("Gated", "Gains", "I", 0.5, 0, 10);
}

/* Options that only attributes can express. */
static void make_described(void) {
  static const char *const titled[] = {"group=Looks", "title=Brightness of it", NULL};
  static const char *const grouped[] = {"group=Looks", NULL};
  fbtweak_declaration tweak = {
      .category = "Kinds", .collection = "Made", .name = "Brightness", .attributes = titled};
  tweak.default_value = (fbtweak_value){.type = FBTWEAK_TYPE_DOUBLE, .number = 1};
  tweak.minimum = (fbtweak_value){.type = FBTWEAK_TYPE_DOUBLE, .number = 0};
  tweak.maximum = (fbtweak_value){.type = FBTWEAK_TYPE_DOUBLE, .number = 100};
  fbtweak_make(&tweak);
  tweak.name = "Contrast";
  tweak.attributes = grouped;
  fbtweak_make(&tweak);
}

/* As optional tweaks of Swift. */
static void make_optional(const char *name, fbtweak_value default_value) {
  static const char *const optional[] = {"optional", NULL};
  fbtweak_declaration tweak = {.category = "Kinds", .collection = "Optionals", .name = name};
  tweak.default_value = default_value;
  tweak.attributes = optional;
  fbtweak_make(&tweak);
}

static void make_optionals(void) {
  make_optional("Limit", (fbtweak_value){.type = FBTWEAK_TYPE_DOUBLE, .number = 0.5});
  make_optional("Retries", (fbtweak_value){.type = FBTWEAK_TYPE_INT64, .integer = 3});
  make_optional("Quiet", (fbtweak_value){.type = FBTWEAK_TYPE_BOOL});
  make_optional("Host", (fbtweak_value){.type = FBTWEAK_TYPE_STRING, .text = "none"});
}

static const fbtweak **made;
static int made_count;

static void make(int index) {
  static const char *const words[] = {"Stiffness", "Damping", "Gain",    "Threshold",
                                      "Radius",    "Delay",   "Opacity", "Scale"};
  char category[32], collection[32], name[48];
  snprintf(category, sizeof category, "Area %02d", index / 500);
  snprintf(collection, sizeof collection, "Part %02d", index / 25 % 20);
  snprintf(name, sizeof name, "%s %d", words[index % 8], index);
  fbtweak_declaration declaration = {.category = category, .collection = collection, .name = name};
  if (index % 5 == 4) {
    declaration.default_value = (fbtweak_value){.type = FBTWEAK_TYPE_BOOL, .boolean = index % 2};
  } else {
    declaration.default_value =
        (fbtweak_value){.type = FBTWEAK_TYPE_DOUBLE, .number = 1 + index % 90};
    declaration.minimum = (fbtweak_value){.type = FBTWEAK_TYPE_DOUBLE, .number = 0};
    declaration.maximum = (fbtweak_value){.type = FBTWEAK_TYPE_DOUBLE, .number = 100};
  }
  const fbtweak *tweak = fbtweak_make(&declaration);
  if (!tweak) {
    fprintf(stderr, "page-program: %s\n", fbtweak_error());
    exit(1);
  }
  if (index % 5 != 4)
    made[made_count++] = tweak;
}

static void *wait_for_end(void *unused) {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  exit(0);
  return unused;
}

/* Forks a process that ends with this one. Returns true in the new process. */
static bool fork_one(void) {
  pid_t parent = getpid();
  if (fork() != 0)
    return false;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
    _exit(1);
  return true;
}

int main(int count_of_arguments, char **arguments) {
  /* With "alone" it keeps running when its standard input ends. */
  bool is_alone = count_of_arguments > 1 && strcmp(arguments[1], "alone") == 0;
  pthread_t reader;
  if (!is_alone)
    pthread_create(&reader, NULL, wait_for_end, NULL);
  int many = count_of_arguments > 2 ? atoi(arguments[2]) : 0;
  if (count_of_arguments > 1 && strcmp(arguments[1], "forks") == 0) {
    while (many > 0 && !fork_one())
      --many;
    many = 0;
  }
  made = calloc((size_t)many + 1, sizeof *made);
  make_described();
  make_optionals();
  for (int index = 0; index < many; ++index)
    make(index);
  int is_flooding = count_of_arguments > 2 && strcmp(arguments[1], "flood") == 0;
  signal(SIGUSR1, hold);
  signal(SIGUSR2, hold);
  printf("ready\n");
  fflush(stdout);

  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (unsigned turn = 0;; ++turn) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    double time = (double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9;
    show(time);
    if (read_gated() + read_kinds() == 1e300 && read_features())
      return 1;
    if (is_flooding && made_count > 0) {
      /* Ten tweaks, a hundred times a second. */
      for (unsigned index = 0; index < 10; ++index) {
        unsigned place = turn * 10 + index, round = place / (unsigned)made_count;
        fbtweak_set_number(made[place % (unsigned)made_count], (place + round) % 100);
      }
    }
    usleep(10000);
  }
}
