#include "loops.h"

#include "fbtweak.h"

int plain_int = 42;
double plain_double = 4.5;

void escape(void *memory) {
  __asm__ volatile("" : : "r"(memory) : "memory");
}

/* Each in one place, so that the eight reads of a turn are of one record. */
static inline __attribute__((always_inline)) int tweak_int(void) {
  return FBTweakValue("Benchmark", "C", "Int", 42, 0, 100);
}
static inline __attribute__((always_inline)) double tweak_double(void) {
  return FBTweakValue("Benchmark", "C", "Double", 4.5, 0.0, 100.0);
}

/* Eight reads a turn, or the loop itself would be most of what is measured. */
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

LOOP(read_c_int_constant, use_int, 42)
LOOP(read_c_int_global, use_int, plain_int)
LOOP(read_c_int_tweak, use_int, tweak_int())
LOOP(read_c_double_constant, use_double, 4.5)
LOOP(read_c_double_global, use_double, plain_double)
LOOP(read_c_double_tweak, use_double, tweak_double())
