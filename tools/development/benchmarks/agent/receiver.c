/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows a tweak, and records the times of its values in a file shared by many processes: FILE
 * INDEX. Without arguments it exits at once.
 */
#include <fbtweak.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct slot {
  int64_t nanoseconds;
  int64_t value;
};

int64_t value(void) {
  return FBTweakValue("Benchmark", "Agent", "Value", (int64_t)0);
}

static void note(const fbtweak_change *change, void *context) {
  (void)change;
  struct slot *slot = context;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  slot->nanoseconds = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  __atomic_store_n(&slot->value, value(), __ATOMIC_RELEASE);
}

int main(int count, char **arguments) {
  if (count != 3)
    return 0;
  int file = open(arguments[1], O_RDWR | O_CLOEXEC);
  size_t index = strtoul(arguments[2], NULL, 10), size = (index + 1) * sizeof(struct slot);
  struct slot *slots = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const fbtweak *tweak = fbtweak_find("Benchmark", "Agent", "Value");
  if (slots == MAP_FAILED || !fbtweak_observe(tweak, NULL, note, &slots[index]))
    return 1;
  puts("ready");
  fflush(stdout);
  /* Until the end of standard input. */
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
