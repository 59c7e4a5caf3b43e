/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop at a gate, for tests that need to be between its steps. */
#include "test_threads.h"

#include <stdint.h>

#define TAKEN (UINT64_C(1) << 63)

static uint64_t *state(void *gate) {
  return (uint64_t *)((char *)gate + 8);
}

unsigned long long test_gate_waiting(void *gate) {
  return __atomic_load_n(state(gate), __ATOMIC_ACQUIRE);
}

int test_gate_take(void *gate) {
  uint64_t count = __atomic_load_n(state(gate), __ATOMIC_ACQUIRE);
  return count != 0 && !(count & TAKEN) &&
         __atomic_compare_exchange_n(state(gate), &count, count | TAKEN, 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}

void test_gate_store(void *gate) {
  uint32_t distance = *(uint32_t *)((char *)gate + 20);
  uint64_t count = __atomic_load_n(state(gate), __ATOMIC_RELAXED) & ~TAKEN;
  for (uint64_t i = 0; i < count; i++) {
    char *entry = (char *)gate + distance + 24 * i;
    void *cell = (void *)(uintptr_t) * (uint64_t *)entry;
    switch (*(uint32_t *)(entry + 16)) {
    case 1:
      __atomic_store_n((uint8_t *)cell, *(uint8_t *)(entry + 8), __ATOMIC_RELAXED);
      break;
    case 2:
      __atomic_store_n((uint16_t *)cell, *(uint16_t *)(entry + 8), __ATOMIC_RELAXED);
      break;
    case 4:
      __atomic_store_n((uint32_t *)cell, *(uint32_t *)(entry + 8), __ATOMIC_RELAXED);
      break;
    case 8:
      __atomic_store_n((uint64_t *)cell, *(uint64_t *)(entry + 8), __ATOMIC_RELAXED);
      break;
    }
  }
  __atomic_store_n(state(gate), 0, __ATOMIC_RELEASE);
}
