/* Swift does not see what Glibc has only for _GNU_SOURCE. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaks.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

void fbtweak__name_thread(void) {
  pthread_setname_np(pthread_self(), "tweaks");
}

bool fbtweak__wait(pthread_cond_t *changed, pthread_mutex_t *mutex, long seconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += seconds;
  return pthread_cond_timedwait(changed, mutex, &deadline) != ETIMEDOUT;
}

/* There in programs that are built with ThreadSanitizer. */
extern void __tsan_init(void) __attribute__((weak));

bool fbtweak__may_start_threads_after_fork(void) {
  return !__tsan_init;
}
