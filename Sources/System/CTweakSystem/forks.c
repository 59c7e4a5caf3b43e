/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a fork wait until no thread runs the library's Swift code. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctweaksystem.h"

enum { LONGEST_WAIT = 100000000 /* ns */, SECOND = 1000000000 };

/* In which a fork that waits stops others. musl has one kind, in which it may wait in vain. */
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#  define FORKS_FIRST PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#  define FORKS_FIRST PTHREAD_RWLOCK_INITIALIZER
#endif
static pthread_rwlock_t running = FORKS_FIRST;
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
/*
 * The files locked by this process. A lock belongs to the open file description, so a child that
 * keeps the descriptor keeps the lock when the parent is gone. Used by threads that hold forks.
 */
enum { MOST_LOCKED = 16 };
static struct locked_file {
  int descriptor; /* plus one; 0 if the place is free */
  dev_t device;
  ino_t node;
} locked_files[MOST_LOCKED];

void fbtweak__close_in_children(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return;
  for (int i = 0; i < MOST_LOCKED; i++) {
    int expected = 0;
    if (!__atomic_compare_exchange_n(&locked_files[i].descriptor, &expected, -1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    locked_files[i].device = status.st_dev;
    locked_files[i].node = status.st_ino;
    __atomic_store_n(&locked_files[i].descriptor, descriptor + 1, __ATOMIC_RELEASE);
    return;
  }
}
void fbtweak__keep_in_children(int descriptor) {
  for (int i = 0; i < MOST_LOCKED; i++) {
    int expected = descriptor + 1;
    if (__atomic_compare_exchange_n(&locked_files[i].descriptor, &expected, 0, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return;
  }
}

void fbtweak__after_fork_in_child(void) {
  for (int i = 0; i < MOST_LOCKED; i++) {
    struct stat status;
    const struct locked_file *file = &locked_files[i];
    /* The program may have closed the descriptor and reused its number. */
    if (file->descriptor > 0 && fstat(file->descriptor - 1, &status) == 0 &&
        status.st_dev == file->device && status.st_ino == file->node)
      close(file->descriptor - 1);
    locked_files[i].descriptor = 0;
  }
  /* Threads that the child does not have may hold it. */
  running = (pthread_rwlock_t)FORKS_FIRST;
  generation++;
}
unsigned fbtweak__generation(void) {
  return generation;
}
