/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight threads read a tweak while another process writes it, to find torn reads: neither the old
 * value nor the new one. The argument is the minimum number of reads; it prints the numbers of
 * reads, writes and torn reads.
 */
#define _GNU_SOURCE
#include <fbtweak.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8 };
/* They differ in every byte. */
static const int64_t values[] = {0x1122334455667788, (int64_t)0xeeddccbbaa998877};

struct shared {
  int64_t reads, torn;
  bool is_done;
};
static struct shared *shared;
static int64_t wanted;

static void *read_tweak(void *context) {
  int64_t reads = 0, torn = 0;
  (void)context;
  while (!__atomic_load_n(&shared->is_done, __ATOMIC_RELAXED)) {
    for (int i = 0; i < 100000; i++) {
      int64_t value = FBTweakValue("Torn", "Values", "Wide", (int64_t)0x1122334455667788);
      torn += value != values[0] && value != values[1];
    }
    reads += 100000;
    if (__atomic_add_fetch(&shared->reads, 100000, __ATOMIC_RELAXED) >= wanted)
      __atomic_store_n(&shared->is_done, true, __ATOMIC_RELAXED);
  }
  __atomic_add_fetch(&shared->torn, torn, __ATOMIC_RELAXED);
  return NULL;
}

int main(int argc, char **argv) {
  extern char __start_fbtweak[], __stop_fbtweak[];
  wanted = argc > 1 ? atoll(argv[1]) : 1000000000;
  shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return 1;
  pid_t reader = fork();
  if (reader == 0) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
      pthread_create(&threads[i], NULL, read_tweak, NULL);
    for (int i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
    _exit(0);
  }
  /* The only tweak: its cell is the first eight bytes equal to the default. */
  char *cell = memmem(__start_fbtweak, (size_t)(__stop_fbtweak - __start_fbtweak), values, 8);
  int64_t writes = 0;
  while (cell && !__atomic_load_n(&shared->is_done, __ATOMIC_RELAXED)) {
    struct iovec here = {(void *)&values[++writes % 2], 8}, there = {cell, 8};
    if (process_vm_writev(reader, &here, 1, &there, 1, 0) != 8)
      break;
  }
  int status = 1;
  if (!__atomic_load_n(&shared->is_done, __ATOMIC_RELAXED))
    kill(reader, SIGKILL);
  waitpid(reader, &status, 0);
  printf("%lld %lld %lld\n", (long long)shared->reads, (long long)writes, (long long)shared->torn);
  return status == 0 ? 0 : 1;
}
