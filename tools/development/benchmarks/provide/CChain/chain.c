/* SPDX-License-Identifier: BSD-3-Clause */
#include "chain.h"

#include "fbtweak.h"

int plain_int = 42;

int chain_highest(void) {
  return FBTweakValue("Features", "Chain", "Highest", 0);
}
int chain_middle(void) {
  return FBTweakValue("Features", "Chain", "Middle", 0);
}
/* In one place, so that the eight reads of an iteration use one record. */
static inline __attribute__((always_inline)) int lowest(void) {
  return FBTweakValue("Features", "Chain", "Lowest", 0);
}
int chain_lowest(void) {
  return lowest();
}

/* Forces the compiler to have the value in a register here, and to repeat any later read. */
static inline __attribute__((always_inline)) void use(int value) {
  __asm__ volatile("" : : "r"(value) : "memory");
}

/* Eight reads per iteration, to make the overhead of the loop small. */
#define LOOP(name_, expression_)                                                                   \
  __attribute__((noinline)) void name_(long turns) {                                               \
    for (long turn = 0; turn < turns; turn++) {                                                    \
      use(expression_);                                                                            \
      use(expression_);                                                                            \
      use(expression_);                                                                            \
      use(expression_);                                                                            \
      use(expression_);                                                                            \
      use(expression_);                                                                            \
      use(expression_);                                                                            \
      use(expression_);                                                                            \
    }                                                                                              \
  }

LOOP(read_global, plain_int)
LOOP(read_tweak, lowest())
