/* Swift does not see what Glibc has only for _GNU_SOURCE. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaks.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

int fbtweak__open_scopes;

void fbtweak__name_thread(void) {
  pthread_setname_np(pthread_self(), "tweaks");
}

bool fbtweak__wait(pthread_cond_t *changed, pthread_mutex_t *mutex, long seconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += seconds;
  return pthread_cond_timedwait(changed, mutex, &deadline) != ETIMEDOUT;
}

/*
 * What Swift hashes with, of the runtime that this image uses. A constructor of the runtime fills
 * it in: two random numbers, or true where they are to be 0.
 */
extern const struct {
  uint64_t seeds[2];
  bool is_deterministic;
} _swift_stdlib_Hashing_parameters;

bool fbtweak__runtime_is_ready(void) {
  return _swift_stdlib_Hashing_parameters.seeds[0] || _swift_stdlib_Hashing_parameters.seeds[1] ||
         _swift_stdlib_Hashing_parameters.is_deterministic;
}

/* There in programs that are built with ThreadSanitizer. */
extern void __tsan_init(void) __attribute__((weak));

bool fbtweak__may_start_threads_after_fork(void) {
  return !__tsan_init;
}
