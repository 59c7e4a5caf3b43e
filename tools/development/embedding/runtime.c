/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that the library of Embedded Swift expects from a system, and glibc lacks. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

/*
 * For the seeds of hashing, and only for those. glibc has it since 2.36. Where a program may not
 * call getrandom, the kernel's random bytes of the process serve instead: 16, the same each time.
 * As with Swift's runtime, a variable makes them zeros, so that the same work is done in each run.
 */
void arc4random_buf(void *bytes, size_t size) {
  enum { KERNELS = 16 };
  if (secure_getenv("SWIFT_DETERMINISTIC_HASHING")) {
    memset(bytes, 0, size);
    return;
  }
  unsigned char *next = bytes;
  while (size > 0) {
    ssize_t count = getrandom(next, size, GRND_NONBLOCK);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      count = size < KERNELS ? (ssize_t)size : KERNELS;
      memcpy(next, (const void *)getauxval(AT_RANDOM), (size_t)count);
    }
    next += count;
    size -= (size_t)count;
  }
}

/* Reads a number as in the C locale, whatever the program has chosen. Returns its end. */
const char *_swift_stdlib_strtod_clocale(const char *text, double *number);
const char *_swift_stdlib_strtod_clocale(const char *text, double *number) {
  static locale_t shared;
  locale_t locale = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
  if (!locale) {
    locale_t new = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (__atomic_compare_exchange_n(&shared, &locale, new, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      locale = new;
    else
      freelocale(new);
  }
  char *end;
  *number = strtod_l(text, &end, locale);
  return end;
}
