/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops that read something eight times in each of `turns` iterations. */
#ifndef LOOPS_H
#define LOOPS_H

#include <stdbool.h>

/*
 * Consumes a value without an instruction. The compiler must have the value in a register here, and
 * must repeat any later read of memory: a read is neither dropped nor moved out of a loop, and
 * consecutive reads do not wait for each other.
 */
static inline __attribute__((always_inline)) void use_bool(bool value) {
  __asm__ volatile("" : : "r"(value) : "memory");
}
static inline __attribute__((always_inline)) void use_int(int value) {
  __asm__ volatile("" : : "r"(value) : "memory");
}
static inline __attribute__((always_inline)) void use_long(long value) {
  __asm__ volatile("" : : "r"(value) : "memory");
}
static inline __attribute__((always_inline)) void use_double(double value) {
#if defined(__aarch64__)
  __asm__ volatile("" : : "w"(value) : "memory");
#elif defined(__riscv)
  __asm__ volatile("" : : "f"(value) : "memory");
#else
  __asm__ volatile("" : : "x"(value) : "memory");
#endif
}

static inline __attribute__((always_inline)) void use_text(const char *value) {
  __asm__ volatile("" : : "r"(value) : "memory");
}

/* Makes the compiler assume that the memory may be written elsewhere. */
void escape(void *memory);

void read_c_bool_constant(long turns);
void read_c_bool_global(long turns);
void read_c_bool_tweak(long turns);
void read_c_int_constant(long turns);
void read_c_int_global(long turns);
void read_c_int_tweak(long turns);
void read_c_double_constant(long turns);
void read_c_double_global(long turns);
void read_c_double_tweak(long turns);
void read_c_text_constant(long turns);
void read_c_text_global(long turns);
void read_c_text_tweak(long turns);

extern volatile int volatile_int;
extern volatile double volatile_double;
void store_c_int_global(long turns);
void store_c_int_monitor(long turns);
void store_c_double_global(long turns);
void store_c_double_monitor(long turns);

/* Cannot be written in Swift. */
static inline __attribute__((always_inline)) void store_volatile_double(double value) {
  volatile_double = value;
}

#endif /* LOOPS_H */
