/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's allocator, as libtweaks.so calls it. tools/install has the linker replace malloc
 * and its kin by these functions (--wrap); elsewhere nothing refers to them.
 *
 * Swift's arrays call malloc_usable_size for their capacity right after an allocation. Not every
 * allocator in front of the C library's can answer: gperftools' tcmalloc returns 0 until its
 * constructor has run, which may be after ours, and glibc's memusage leaves the call to the C
 * library, which does not know its blocks. So each thread remembers the size of its last request.
 *
 * Swift aborts if memory runs out. The library must not end the program, so work in progress gets
 * its memory from a reserve, and the library does nothing more until there is memory again.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctweaks.h"

#define WEAK __attribute__((weak))
WEAK void *__real_malloc(size_t size);
WEAK void *__real_calloc(size_t count, size_t size);
WEAK void *__real_realloc(void *block, size_t size);
WEAK void *__real_aligned_alloc(size_t alignment, size_t size);
WEAK int __real_posix_memalign(void **block, size_t alignment, size_t size);
WEAK void __real_free(void *block);
WEAK size_t __real_malloc_usable_size(void *block);

/* --- The reserve: a stack of blocks. A freed block is removed when all above it are free. */

enum { RESERVE = 1 << 20, ALIGNMENT = 16, PROBE = 64 << 10 };

/* Precedes each block. */
struct header {
  size_t size;
  uint32_t below; /* where the block below begins, or 0 */
  uint32_t is_free;
};

/* Zeros, which take no memory until they are used. */
static _Alignas(4096) unsigned char reserve[RESERVE];
static uint32_t reserve_top; /* where the uppermost block begins, or 0 */
static bool reserve_lock;
static bool is_short;

static void lock_reserve(void) {
  while (__atomic_test_and_set(&reserve_lock, __ATOMIC_ACQUIRE)) {
  }
}
static void unlock_reserve(void) {
  __atomic_clear(&reserve_lock, __ATOMIC_RELEASE);
}

static bool is_reserved(const void *block) {
  return (uintptr_t)block - (uintptr_t)reserve < RESERVE;
}
static struct header *header_of(const void *block) {
  return (struct header *)block - 1;
}

static void *take_reserve(size_t alignment, size_t size) {
  void *block = NULL;
  __atomic_store_n(&is_short, true, __ATOMIC_RELAXED);
  if (alignment < ALIGNMENT)
    alignment = ALIGNMENT;
  lock_reserve();
  size_t used = reserve_top ? reserve_top + header_of(reserve + reserve_top)->size : 0;
  size_t start = (used + sizeof(struct header) + alignment - 1) & ~(alignment - 1);
  if (alignment <= 4096 && start <= RESERVE && size <= RESERVE - start) {
    block = reserve + start;
    *header_of(block) = (struct header){size, reserve_top, false};
    reserve_top = (uint32_t)start;
  }
  unlock_reserve();
  if (!block)
    errno = ENOMEM;
  return block;
}
static void return_reserve(void *block) {
  lock_reserve();
  header_of(block)->is_free = true;
  while (reserve_top && header_of(reserve + reserve_top)->is_free)
    reserve_top = header_of(reserve + reserve_top)->below;
  unlock_reserve();
}

bool fbtweak__has_memory(void) {
  if (__builtin_expect(!__atomic_load_n(&is_short, __ATOMIC_RELAXED), true))
    return true;
  void *probe = __real_malloc(PROBE);
  if (!probe)
    return false;
  __real_free(probe);
  __atomic_store_n(&is_short, false, __ATOMIC_RELAXED);
  return true;
}

/* --- The replacements of malloc and its kin */

static _Thread_local struct {
  void *block;
  size_t size;
} newest;

static void *remember(void *block, size_t size) {
  newest.block = block;
  newest.size = size;
  return block;
}

void *__wrap_malloc(size_t size) {
  void *block = __real_malloc(size);
  return remember(block ? block : take_reserve(ALIGNMENT, size), size);
}
void *__wrap_calloc(size_t count, size_t size) {
  void *block = __real_calloc(count, size);
  size_t product;
  if (__builtin_mul_overflow(count, size, &product))
    return NULL;
  if (!block && (block = take_reserve(ALIGNMENT, product)))
    memset(block, 0, product);
  return remember(block, product);
}
void *__wrap_realloc(void *block, size_t size) {
  const bool was_reserved = block && is_reserved(block);
  void *moved = was_reserved ? __real_malloc(size) : __real_realloc(block, size);
  if (!moved && size != 0 && (was_reserved || !block))
    moved = take_reserve(ALIGNMENT, size);
  if (was_reserved && moved) {
    size_t before = header_of(block)->size;
    memcpy(moved, block, before < size ? before : size);
    return_reserve(block);
  }
  return remember(moved, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  void *block = __real_aligned_alloc(alignment, size);
  return remember(block ? block : take_reserve(alignment, size), size);
}
int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
  int error = __real_posix_memalign(block, alignment, size);
  if (error == ENOMEM && (*block = take_reserve(alignment, size)))
    error = 0;
  if (error == 0)
    remember(*block, size);
  return error;
}
void __wrap_free(void *block) {
  /* Functions of the C library, which are not wrapped, may be given the same address next. */
  if (newest.block == block)
    newest.block = NULL;
  if (block && is_reserved(block))
    return_reserve(block);
  else
    __real_free(block);
}
size_t __wrap_malloc_usable_size(void *block) {
  if (block && newest.block == block)
    return newest.size;
  return block && is_reserved(block) ? header_of(block)->size : __real_malloc_usable_size(block);
}
