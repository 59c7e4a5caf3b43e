/* SPDX-License-Identifier: BSD-3-Clause */
/* Scales an array by a constant, a global and tweaks, and prints samples of ns per element. */
#define _GNU_SOURCE
#include <fbtweak.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 4096, TURNS = 50 };

static float from[COUNT], to[COUNT];
static float bound;
float plain = 0.5f, declared = 0.5f;
FBTweakVariable(declared, "Benchmark", "Loop", "Gain declared", 0, 1);

#define LOOP(name_, before_, gain_)                                                                \
  __attribute__((noinline)) static void name_(float *restrict out, const float *restrict in,       \
                                              size_t count) {                                      \
    before_;                                                                                       \
    for (size_t i = 0; i < count; i++)                                                             \
      out[i] = in[i] * (gain_) + 1.0f;                                                             \
  }

LOOP(with_constant, (void)0, 0.5f)
LOOP(with_tweak, (void)0, FBTweakValue("Benchmark", "Loop", "Gain", 0.5f, 0, 1))
LOOP(with_tweak_read_before,
     float gain = FBTweakValue("Benchmark", "Loop", "Gain before", 0.5f, 0, 1), gain)
LOOP(with_bound_variable, (void)0, bound)
LOOP(with_global, (void)0, plain)
LOOP(with_declared_variable, (void)0, declared)

static double nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    void (*run)(float *restrict out, const float *restrict in, size_t count);
  } ways[] = {
      {"constant", with_constant},
      {"tweak in the loop", with_tweak},
      {"tweak read before the loop", with_tweak_read_before},
      {"variable that follows", with_bound_variable},
      {"global", with_global},
      {"global with FBTweakVariable", with_declared_variable},
  };
  enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
  size_t samples = count > 1 ? (size_t)atoi(arguments[1]) : 100;
  double *measured = calloc(samples * WAYS, sizeof(double));
  if (!measured)
    return 1;
  FBTweakBind(bound, "Benchmark", "Loop", "Gain bound", 0.5, 0, 1);
  for (size_t i = 0; i < COUNT; i++)
    from[i] = (float)i;

  /* They take turns, so that other load on the machine affects all of them. */
  for (size_t sample = 0; sample < samples; sample++) {
    for (size_t way = 0; way < WAYS; way++) {
      double start = nanoseconds();
      for (int turn = 0; turn < TURNS; turn++) {
        ways[way].run(to, from, COUNT);
        __asm__ volatile("" : : "r"(to) : "memory");
      }
      measured[way * samples + sample] = (nanoseconds() - start) / TURNS / COUNT;
    }
  }
  for (size_t way = 0; way < WAYS; way++) {
    printf("%s", ways[way].name);
    for (size_t sample = 0; sample < samples; sample++)
      printf("%c%.4f", sample ? ',' : '\t', measured[way * samples + sample]);
    puts("");
  }
  free(measured);
  FBTweakUnbind(bound);
  return 0;
}
