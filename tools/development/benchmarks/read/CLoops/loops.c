/* SPDX-License-Identifier: BSD-3-Clause */
#include "loops.h"

#include "fbtweak.h"

bool plain_bool = true;
int plain_int = 42;
double plain_double = 4.5;
const char *plain_text = "linear";

void escape(void *memory) {
  __asm__ volatile("" : : "r"(memory) : "memory");
}

/* In one place each, so that the eight reads of an iteration use one record. */
static inline __attribute__((always_inline)) bool tweak_bool(void) {
  return FBTweakValue("Benchmark", "C", "Bool", true);
}
static inline __attribute__((always_inline)) int tweak_int(void) {
  return FBTweakValue("Benchmark", "C", "Int", 42, 0, 100);
}
static inline __attribute__((always_inline)) double tweak_double(void) {
  return FBTweakValue("Benchmark", "C", "Double", 4.5, 0.0, 100.0);
}
static inline __attribute__((always_inline)) const char *tweak_text(void) {
  return FBTweakValue("Benchmark", "C", "Text", "linear");
}

/* Eight reads per iteration, to make the overhead of the loop small. */
#define LOOP(name_, use_, expression_)                                                             \
  __attribute__((noinline)) void name_(long turns) {                                               \
    for (long turn = 0; turn < turns; turn++) {                                                    \
      use_(expression_);                                                                           \
      use_(expression_);                                                                           \
      use_(expression_);                                                                           \
      use_(expression_);                                                                           \
      use_(expression_);                                                                           \
      use_(expression_);                                                                           \
      use_(expression_);                                                                           \
      use_(expression_);                                                                           \
    }                                                                                              \
  }

LOOP(read_c_bool_constant, use_bool, true)
LOOP(read_c_bool_global, use_bool, plain_bool)
LOOP(read_c_bool_tweak, use_bool, tweak_bool())
LOOP(read_c_int_constant, use_int, 42)
LOOP(read_c_int_global, use_int, plain_int)
LOOP(read_c_int_tweak, use_int, tweak_int())
LOOP(read_c_double_constant, use_double, 4.5)
LOOP(read_c_double_global, use_double, plain_double)
LOOP(read_c_double_tweak, use_double, tweak_double())
LOOP(read_c_text_constant, use_text, "linear")
LOOP(read_c_text_global, use_text, plain_text)
LOOP(read_c_text_tweak, use_text, tweak_text())

/* A value is stored eight times per iteration. */
volatile int volatile_int;
volatile double volatile_double;

static inline __attribute__((always_inline)) void monitor_int(int value) {
  FBTweakMonitor("Benchmark", "C", "Stored int", value);
}
static inline __attribute__((always_inline)) void monitor_double(double value) {
  FBTweakMonitor("Benchmark", "C", "Stored double", value, 0, 100);
}

#define STORING_LOOP(name_, type_, store_)                                                         \
  __attribute__((noinline)) void name_(long turns) {                                               \
    type_ value = (type_)turns;                                                                    \
    for (long turn = 0; turn < turns; turn++) {                                                    \
      store_(value);                                                                               \
      store_(value);                                                                               \
      store_(value);                                                                               \
      store_(value);                                                                               \
      store_(value);                                                                               \
      store_(value);                                                                               \
      store_(value);                                                                               \
      store_(value);                                                                               \
    }                                                                                              \
  }

STORING_LOOP(store_c_int_global, int, volatile_int =)
STORING_LOOP(store_c_int_monitor, int, monitor_int)
STORING_LOOP(store_c_double_global, double, volatile_double =)
STORING_LOOP(store_c_double_monitor, double, monitor_double)
