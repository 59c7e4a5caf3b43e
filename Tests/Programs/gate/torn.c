/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads sets of tweaks while a writer never stops, and counts those that are parts of two sets.
 *
 *     torn gate|take|changed|none threads|processes READS CHANGES
 *
 * Reads at least so often, and until it has seen so many changes. Prints the reads, those that had
 * a set, the sets that differed from the one before, and the torn ones. SIZE is the size of a set:
 * 3, 16 or 64.
 */
#define _GNU_SOURCE
#include "mailbox.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define V(name_) FBTweakValue("Motor", "Set", name_, (uint64_t)0)
#define FOUR(n_) V(n_ "a"), V(n_ "b"), V(n_ "c"), V(n_ "d")
#define SIXTEEN(n_) FOUR(n_ "a"), FOUR(n_ "b"), FOUR(n_ "c"), FOUR(n_ "d")
#if SIZE == 3
#  define VALUES V("a"), V("b"), V("c")
#elif SIZE == 16
#  define VALUES SIXTEEN("")
#else
#  define VALUES SIXTEEN("a"), SIXTEEN("b"), SIXTEEN("c"), SIXTEEN("d")
#endif

struct set {
  uint64_t values[SIZE];
};
static inline struct set read_set(void) {
  struct set set = {{VALUES}};
  return set;
}

static struct fbtweak__gate *gate;
static uint64_t *sequence, *cells[SIZE];
static const char *how;
static bool is_done;

static void find_records(void) {
  uint32_t size, count = 0;
  gate = record_of(FBTWEAK_KIND_GATE, 0);
  sequence = (uint64_t *)record_of(FBTWEAK_KIND_SEQUENCE, 0) + 1;
  for (unsigned char *record = __start_fbtweak; record < __stop_fbtweak;
       record += size ? size : 8) {
    memcpy(&size, record, sizeof size);
    if (size && record[5] == FBTWEAK_KIND_VALUE && count < SIZE)
      cells[count++] = (uint64_t *)(void *)(record + 8);
  }
  if (!gate || sequence == (uint64_t *)8 || count != SIZE)
    exit(2);
}

/* Short gaps, in which a take can succeed. */
static void pause_for_a_while(uint64_t change) {
  for (volatile unsigned i = (change * 2654435761u >> 7) % 512; i; i--)
    ;
}

static void *write_in_thread(void *unused) {
  (void)unused;
  uint64_t values[SIZE];
  for (uint64_t change = 1; !__atomic_load_n(&is_done, __ATOMIC_RELAXED); change++) {
    if (how[0] == 'g') {
      for (int i = 0; i < SIZE; i++)
        values[i] = change;
      while (!send(gate, cells, values, SIZE) && !__atomic_load_n(&is_done, __ATOMIC_RELAXED))
        sched_yield();
      continue;
    }
    uint64_t before = __atomic_load_n(sequence, __ATOMIC_RELAXED);
    __atomic_store_n(sequence, before + 1, __ATOMIC_RELAXED);
    for (int i = 0; i < SIZE; i++)
      __atomic_store_n(cells[i], change, __ATOMIC_RELEASE);
    __atomic_store_n(sequence, before + 2, __ATOMIC_RELEASE);
    pause_for_a_while(change);
  }
  return 0;
}

static bool copy_out(pid_t process, const void *from, void *to, size_t size) {
  struct iovec local = {(void *)(uintptr_t)from, size}, remote = {to, size};
  return process_vm_writev(process, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Writes into the memory of a process that has these records at the same addresses. */
static void write_in_process(pid_t process) {
  for (uint64_t change = 1, before = 0;; change++) {
    if (how[0] == 'g') {
      struct fbtweak__store stores[SIZE];
      uint64_t state = 1, count = SIZE;
      for (int i = 0; i < SIZE; i++)
        stores[i] = (struct fbtweak__store){(uintptr_t)cells[i], change, 8, 0};
      struct iovec local = {&state, 8}, remote = {&gate->fbtweak__state, 8};
      while (state)
        if (process_vm_readv(process, &local, 1, &remote, 1, 0) != 8)
          return;
      if (!copy_out(process, stores, (char *)gate + gate->fbtweak__stores, sizeof stores) ||
          !copy_out(process, &count, &gate->fbtweak__state, 8))
        return;
      continue;
    }
    before++;
    if (!copy_out(process, &before, sequence, 8))
      return;
    for (int i = 0; i < SIZE; i++)
      if (!copy_out(process, &change, cells[i], 8))
        return;
    before++;
    if (!copy_out(process, &before, sequence, 8))
      return;
    pause_for_a_while(change);
  }
}

static int read_sets(uint64_t least_reads, uint64_t least_changes) {
  uint64_t reads = 0, sets = 0, changes = 0, torn = 0, last = 0;
  struct set set = {{0}};
  uint64_t seen = 0;
  for (; reads < least_reads || changes < least_changes; reads++) {
    if (reads % 4096 == 0)
      sched_yield();
    if (how[0] == 't') {
      if (!FBTweakTake(read_set(), &set))
        continue;
    } else if (how[0] == 'c') {
      (void)FBTweakTake(read_set(), &set, &seen);
    } else {
      if (how[0] == 'g')
        FBTweakGate("Motor");
      set = read_set();
    }
    uint64_t difference = 0;
    for (int j = 1; j < SIZE; j++)
      difference |= set.values[j] ^ set.values[0];
    sets++;
    torn += difference != 0;
    changes += set.values[0] != last;
    last = set.values[0];
  }
  printf("reads %llu sets %llu changes %llu torn %llu\n", (unsigned long long)reads,
         (unsigned long long)sets, (unsigned long long)changes, (unsigned long long)torn);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 5)
    return 64;
  how = arguments[1];
  uint64_t reads = strtoull(arguments[3], 0, 10), changes = strtoull(arguments[4], 0, 10);
  find_records();
  if (strcmp(arguments[2], "threads") == 0) {
    pthread_t writer;
    if (pthread_create(&writer, 0, write_in_thread, 0) != 0)
      return 71;
    int status = read_sets(reads, changes);
    __atomic_store_n(&is_done, true, __ATOMIC_RELAXED);
    pthread_join(writer, 0);
    return status;
  }
  /* The parent writes, because a process may write into its children. */
  pid_t reader = fork();
  if (reader == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = read_sets(reads, changes);
    fflush(stdout);
    _exit(status);
  }
  write_in_process(reader);
  int status;
  return waitpid(reader, &status, 0) == reader && WIFEXITED(status) ? WEXITSTATUS(status) : 70;
}
