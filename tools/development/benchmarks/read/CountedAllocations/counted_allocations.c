/* SPDX-License-Identifier: BSD-3-Clause */
/* Wraps malloc and its kin, with LD_PRELOAD, to count allocations. */
#include "counted_allocations.h"

#include <errno.h>
#include <stddef.h>

/* glibc's internal names; dlsym, which could find them too, allocates. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Thread_local unsigned long count __attribute__((tls_model("initial-exec")));

unsigned long counted_allocations(void) {
  return count;
}

void *malloc(size_t size) {
  count++;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count++;
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  count++;
  return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  count++;
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *result = memalign(alignment, size);
  if (result)
    *memory = result;
  return result ? 0 : ENOMEM;
}
