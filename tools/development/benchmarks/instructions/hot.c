/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats one operation of the library, for tools/development/instructions to count its
 * instructions: hot OPERATION TIMES COUNT, in a program with COUNT more tweaks from records.s. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fbtweak.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

FBTweakApplication("hot");

/* Replaces that of the C library for the whole process. A random key decides how long the library's
 * hash tables look for a name. */
long syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (number == SYS_getrandom) {
    memset((void *)a, 0x5a, (size_t)b);
    return b;
  }
  long (*original)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return original(number, a, b, c, d, e, f);
}

static long changes;
static void notice(const fbtweak_change *change, void *context) {
  (void)context;
  changes += change->new_value.integer;
}

static bool visit(const fbtweak *tweak, void *context) {
  (void)tweak;
  (void)context;
  return true;
}

/* Names of tweaks in records.s. */
enum { NAMES = 500 };
static struct { char category[32], collection[32], name[32]; } names[NAMES];
static void write_names(long count) {
  for (long number = 0; number < NAMES; number++) {
    long index = number * count / NAMES;
    snprintf(names[number].category, 32, "Category %ld", index * 10 / count);
    snprintf(names[number].collection, 32, "Collection %ld", index * 100 / count);
    snprintf(names[number].name, 32, "Tweak %ld", index);
  }
}

int main(int argc, char **argv) {
  const char *operation = argc > 1 ? argv[1] : "";
  long times = argc > 2 ? atol(argv[2]) : 0, count = argc > 3 ? atol(argv[3]) : 1;
  int level = FBTweakValue("Hot", "Path", "Level", 0, 0, 1000000);

  if (strcmp(operation, "find") == 0) {
    write_names(count);
    for (long turn = 0; turn < times; turn++) {
      long number = turn % NAMES;
      if (!fbtweak_find(names[number].category, names[number].collection, names[number].name))
        return 1;
    }
  } else if (strcmp(operation, "walk") == 0) {
    for (long turn = 0; turn < times; turn++)
      if (fbtweak_walk(0, 0, visit, 0) != (size_t)count + 1)
        return 1;
  } else if (strncmp(operation, "set", 3) == 0) {
    const fbtweak *tweak = fbtweak_find("Hot", "Path", "Level");
    if (strcmp(operation, "set-observed") == 0)
      fbtweak_observe(tweak, 0, notice, 0);
    for (long turn = 1; turn <= times; turn++)
      if (fbtweak_set_integer(tweak, turn) != FBTWEAK_OK)
        return 1;
  } else if (strcmp(operation, "serve") == 0) {
    puts("");
    fflush(stdout);
    getchar();
  }
  return level < 0 || changes < 0;
}
