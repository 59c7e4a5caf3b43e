/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the nanoseconds of an idle gate and of a take of three beside those of reads, of relaxed
 * atomics and of globals behind a mutex, `<samples>` times each: the ways take turns, so that other
 * load on the machine affects all of them. A reading loop does the same four times in each of its
 * turns.
 */
#include <fbtweak.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Must be in a register here, and be read again afterwards. */
static inline __attribute__((always_inline)) void use(double value) {
#if defined(__aarch64__)
  __asm__ volatile("" : : "w"(value) : "memory");
#else
  __asm__ volatile("" : : "x"(value) : "memory");
#endif
}

double plain_p = 1, plain_i = 0.1, plain_d = 0.01;
_Atomic double atomic_p = 1, atomic_i = 0.1, atomic_d = 0.01;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct gains {
  double p, i, d;
};
static inline __attribute__((always_inline)) double tweak_p(void) {
  return FBTweakValue("Bench", "Gains", "P", 1.0);
}
static inline __attribute__((always_inline)) struct gains gains(void) {
  struct gains gains = {tweak_p(), FBTweakValue("Bench", "Gains", "I", 0.1),
                        FBTweakValue("Bench", "Gains", "D", 0.01)};
  return gains;
}
static inline __attribute__((always_inline)) void pass_gate(void) {
  FBTweakGate("Bench");
  __asm__ volatile("" : : : "memory");
}
static inline __attribute__((always_inline)) void read_globals(void) {
  use(plain_p);
  use(plain_i);
  use(plain_d);
}
static inline __attribute__((always_inline)) void read_atomics(void) {
  use(atomic_load_explicit(&atomic_p, memory_order_relaxed));
  use(atomic_load_explicit(&atomic_i, memory_order_relaxed));
  use(atomic_load_explicit(&atomic_d, memory_order_relaxed));
}
static inline __attribute__((always_inline)) void read_locked(void) {
  pthread_mutex_lock(&mutex);
  read_globals();
  pthread_mutex_unlock(&mutex);
}
static inline __attribute__((always_inline)) void read_tweaks(void) {
  struct gains now = gains();
  use(now.p);
  use(now.i);
  use(now.d);
}
static inline __attribute__((always_inline)) void take(struct gains *copy) {
  (void)FBTweakTake(gains(), copy);
  use(copy->p);
  use(copy->i);
  use(copy->d);
}

static inline __attribute__((always_inline)) void take_new(struct gains *copy, uint64_t *seen) {
  (void)FBTweakTake(gains(), copy, seen);
  use(copy->p);
  use(copy->i);
  use(copy->d);
}

#define LOOP(name_, body_)                                                                         \
  __attribute__((noinline)) void name_(long turns);                                                \
  __attribute__((noinline)) void name_(long turns) {                                               \
    struct gains copy = {0, 0, 0};                                                                 \
    uint64_t seen = 0;                                                                             \
    (void)copy;                                                                                    \
    (void)seen;                                                                                    \
    for (long turn = 0; turn < turns; turn++) {                                                    \
      body_;                                                                                       \
      body_;                                                                                       \
      body_;                                                                                       \
      body_;                                                                                       \
    }                                                                                              \
  }
LOOP(one_global, use(plain_p))
LOOP(one_tweak, use(tweak_p()))
LOOP(one_atomic, use(atomic_load_explicit(&atomic_p, memory_order_relaxed)))
LOOP(idle_gate, pass_gate())
LOOP(three_globals, read_globals())
LOOP(three_atomics, read_atomics())
LOOP(three_locked, read_locked())
LOOP(three_tweaks, read_tweaks())
LOOP(take_of_three, take(&copy))
LOOP(take_of_new, take_new(&copy, &seen))

/* As the compiler makes them of one gate and of one take, to be shown. */
void shown_gate(void);
void shown_gate(void) {
  FBTweakGate("Shown");
}
bool shown_take(struct gains *copy);
bool shown_take(struct gains *copy) {
  return FBTweakTake(gains(), copy);
}

static const struct {
  const char *name;
  void (*run)(long turns);
} ways[] = {{"a global", one_global},
            {"a tweak", one_tweak},
            {"a relaxed atomic", one_atomic},
            {"an idle gate", idle_gate},
            {"three globals", three_globals},
            {"three relaxed atomics", three_atomics},
            {"three globals behind a mutex", three_locked},
            {"three tweaks", three_tweaks},
            {"a take of three", take_of_three},
            {"a take of three with what it has seen", take_of_new}};
enum { way_count = sizeof ways / sizeof *ways };

static double nanoseconds(void (*run)(long turns), long turns) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  run(turns);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
         ((double)turns * 4);
}

int main(int count, char **arguments) {
  long samples = count == 2 ? atol(arguments[1]) : 0;
  double *all = malloc((size_t)samples * way_count * sizeof *all);
  if (samples < 1 || !all)
    return 64;
  for (long sample = 0; sample < samples; sample++)
    for (int way = 0; way < way_count; way++)
      all[way * samples + sample] = nanoseconds(ways[way].run, 50000);
  for (int way = 0; way < way_count; way++) {
    printf("%s\t", ways[way].name);
    for (long sample = 0; sample < samples; sample++)
      printf("%s%g", sample ? "," : "", all[way * samples + sample]);
    printf("\n");
  }
  free(all);
  return 0;
}
