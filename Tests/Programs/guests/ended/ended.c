/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allocator that ends some time before the process. glibc's memusage does so, too: what another
 * thread frees then has a header that memusage no longer removes, and the process is aborted.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);
static int has_ended;

/* A thread that starts late: its first allocation is before the end, and what follows is after. */
void *malloc(size_t size) {
  static _Thread_local int has_allocated;
  void *const block = __libc_malloc(size);
  if (!has_allocated && gettid() != getpid())
    usleep(50000);
  has_allocated = 1;
  return block;
}

void free(void *block) {
  static const char message[] = "a thread freed memory after the end of the allocator\n";
  if (block && __atomic_load_n(&has_ended, __ATOMIC_SEQ_CST) && gettid() != getpid()) {
    (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
    abort();
  }
  __libc_free(block);
}

__attribute__((destructor)) static void end(void) {
  __atomic_store_n(&has_ended, 1, __ATOMIC_SEQ_CST);
  /* The thread that writes overrides pauses for a third of this after a write. */
  usleep(150000);
}
