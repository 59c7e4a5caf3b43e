/* Has a fork wait for a moment in which no thread runs Swift code of the library. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <pthread.h>
#include <time.h>

#include "ctweaksystem.h"

enum { LONGEST_WAIT = 100000000 /* ns */, SECOND = 1000000000 };

static pthread_rwlock_t running = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static unsigned generation;
static _Thread_local bool holds_forks;
static _Thread_local bool has_stopped_others;

bool fbtweak__hold_forks(void) {
  if (holds_forks)
    return false;
  holds_forks = pthread_rwlock_rdlock(&running) == 0;
  return holds_forks;
}
bool fbtweak__allow_forks(void) {
  if (!holds_forks)
    return false;
  holds_forks = false;
  pthread_rwlock_unlock(&running);
  return true;
}

void fbtweak__before_fork(void) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += LONGEST_WAIT;
  if (deadline.tv_nsec >= SECOND) {
    deadline.tv_nsec -= SECOND;
    deadline.tv_sec++;
  }
  has_stopped_others = !holds_forks && pthread_rwlock_timedwrlock(&running, &deadline) == 0;
}
void fbtweak__after_fork(void) {
  if (has_stopped_others)
    pthread_rwlock_unlock(&running);
}
void fbtweak__after_fork_in_child(void) {
  /* Threads that it does not have may hold it. */
  running = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  generation++;
}
unsigned fbtweak__generation(void) {
  return generation;
}
