/* SPDX-License-Identifier: BSD-3-Clause */
/* Swift does not see declarations that Glibc only has with _GNU_SOURCE. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaks.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

int fbtweak__open_scopes;
uint64_t fbtweak__sequence;

void fbtweak__repair_sequence(void) {
  __atomic_fetch_and(&fbtweak__sequence, ~FBTWEAK__STORING, __ATOMIC_RELEASE);
}

/*
 * With jemalloc, a thread whose first allocation fails ends the process; with glibc, so does one
 * without memory for the thread-local variables of a plug-in. They need at most this much.
 */
bool fbtweak__has_room_for_thread(void) {
  enum { ROOM = 8 << 20 };
  void *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && munmap(room, ROOM) == 0;
}

/*
 * An allocator that is a library of its own may have ended before the process: glibc's memusage
 * ends a process that then frees what was allocated before. So the library's threads that may be
 * at work when main returns come to rest before the first destructor of a library.
 */
static int busy_threads, is_exiting;

void fbtweak__begin_work(void) {
  __atomic_add_fetch(&busy_threads, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&is_exiting, __ATOMIC_SEQ_CST))
    return;
  __atomic_sub_fetch(&busy_threads, 1, __ATOMIC_SEQ_CST);
  for (;;)
    pause();
}
void fbtweak__end_work(void) {
  __atomic_sub_fetch(&busy_threads, 1, __ATOMIC_SEQ_CST);
}

void fbtweak__stop_work_at_exit(void) {
  const struct timespec moment = {.tv_nsec = 1000000};
  enum { PATIENCE = 1000 };
  __atomic_store_n(&is_exiting, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; i < PATIENCE && __atomic_load_n(&busy_threads, __ATOMIC_SEQ_CST) > 0; i++)
    nanosleep(&moment, NULL);
}

static int writers, is_exiting_inside;

void fbtweak__count_writers(int difference) {
  __atomic_add_fetch(&writers, difference, __ATOMIC_SEQ_CST);
}
void fbtweak__exit_inside(void) {
  const struct timespec moment = {.tv_nsec = 1000000};
  enum { PATIENCE = 500 };
  if (__atomic_exchange_n(&is_exiting_inside, 1, __ATOMIC_SEQ_CST))
    return;
  for (int i = 0; i < PATIENCE && __atomic_load_n(&writers, __ATOMIC_SEQ_CST) > 0; i++)
    nanosleep(&moment, NULL);
}
bool fbtweak__exits_inside(void) {
  return __builtin_expect(__atomic_load_n(&is_exiting_inside, __ATOMIC_RELAXED), 0);
}

bool fbtweak__holds(pthread_mutex_t *mutex) {
#ifdef __GLIBC__
  return __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == syscall(SYS_gettid);
#else
  /* musl does not note the owner, but the other threads release it soon. */
  enum { PATIENCE = 1 /* s */ };
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += PATIENCE;
  if (pthread_mutex_timedlock(mutex, &deadline) != 0)
    return true;
  pthread_mutex_unlock(mutex);
  return false;
#endif
}

void fbtweak__prepare_thread(void) {
  pthread_setname_np(pthread_self(), "tweaks");
  void *volatile block = malloc(1);
  free(block);
}

/* The number of threads, including the main thread; 0 without /proc. */
static int count_all_threads(void) {
  struct stat status;
  return stat("/proc/self/task", &status) == 0 ? (int)status.st_nlink - 2 : 0;
}

/*
 * If main is left by pthread_exit(3) or its thread is cancelled, a process lives until its last
 * thread ends. Threads of the library must not keep it alive. Only then, and not at exit, are the
 * destructors of the thread's keys called.
 */
static pthread_key_t main_key;
static int main_has_ended;
static sigset_t signals_of_main;
static void (*tell_end_of_main)(void);
static int own_threads;

/*
 * Threads of the library that only sleep have not used the allocator yet, nor thread-local
 * variables of a plug-in. Without room for those, such a thread must not become the last one: that
 * one calls the exit handlers.
 */
static int sleepers;

static void end_if_others_sleep_without_room(void) {
  int asleep = __atomic_load_n(&sleepers, __ATOMIC_SEQ_CST);
  if (asleep > 0 && count_all_threads() - 1 <= asleep && !fbtweak__has_room_for_thread())
    exit(0);
}

static int ends_of_main;

/* Called in each round of destructors, of which the last one comes after those of the program. */
static void note_end_of_main(void *value) {
  if (++ends_of_main == PTHREAD_DESTRUCTOR_ITERATIONS)
    return end_if_others_sleep_without_room();
  pthread_setspecific(main_key, value);
  if (ends_of_main > 1)
    return;
  pthread_sigmask(SIG_BLOCK, NULL, &signals_of_main);
  __atomic_store_n(&main_has_ended, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &main_has_ended, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  tell_end_of_main();
}

void fbtweak__watch_main_thread(void (*tell)(void)) {
  if (getpid() != syscall(SYS_gettid))
    return;
  if (!tell_end_of_main && pthread_key_create(&main_key, note_end_of_main) != 0)
    return;
  tell_end_of_main = tell;
  pthread_setspecific(main_key, &main_key);
}

void fbtweak__forget_other_threads(void) {
  main_has_ended = 0;
  ends_of_main = 0;
  own_threads = 0;
  sleepers = 0;
  busy_threads = 0;
  is_exiting = 0;
  writers = 0;
}

bool fbtweak__main_has_ended(void) {
  return __atomic_load_n(&main_has_ended, __ATOMIC_ACQUIRE);
}

static void sleep_while_main_lives(int64_t nanoseconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  nanoseconds += deadline.tv_nsec;
  deadline.tv_sec += nanoseconds / 1000000000;
  deadline.tv_nsec = nanoseconds % 1000000000;
  /* Changing the user id interrupts all threads. */
  while (!fbtweak__main_has_ended() &&
         syscall(SYS_futex, &main_has_ended, FUTEX_WAIT_BITSET_PRIVATE, 0, &deadline, NULL,
                 FUTEX_BITSET_MATCH_ANY) != 0 &&
         errno == EINTR) {
  }
}

void fbtweak__count_threads(int difference) {
  __atomic_add_fetch(&own_threads, difference, __ATOMIC_RELAXED);
}

/*
 * Returns whether the main thread is gone for good. dispatch_main, which every Swift program with
 * an asynchronous main calls, ends it, too, but makes it sleep for ever in the destructor of a key.
 * The memory of a process is not accessible by the id of a thread that has ended.
 */
static bool is_main_gone(void) {
  char byte = 0, copy;
  const struct iovec from = {&byte, 1}, to = {&copy, 1};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) >= 0)
    return false;
  return errno == ESRCH || (readlink("/proc/self/exe", &copy, 1) < 0 && errno == ENOENT);
}

void fbtweak__count_sleepers(int difference) {
  __atomic_add_fetch(&sleepers, difference, __ATOMIC_SEQ_CST);
  fbtweak__count_threads(difference);
}

bool fbtweak__only_library_remains(void) {
  enum { PATIENCE = 20 };
  static int looks;
  if (!fbtweak__main_has_ended())
    return false;
  if (!is_main_gone()) {
    if (looks++ == PATIENCE)
      __atomic_store_n(&main_has_ended, 0, __ATOMIC_RELEASE);
    return false;
  }
  return count_all_threads() - 1 <= __atomic_load_n(&own_threads, __ATOMIC_RELAXED);
}

void fbtweak__sleep_until_room(int64_t nanoseconds) {
  const struct timespec moment = {.tv_nsec = 10000000};
  sleep_while_main_lives(nanoseconds);
  while (!fbtweak__has_room_for_thread() && !fbtweak__only_library_remains()) {
    if (fbtweak__main_has_ended())
      nanosleep(&moment, NULL);
    else
      sleep_while_main_lives(nanoseconds);
  }
  fbtweak__count_sleepers(-1);
}

void fbtweak__wait_for_other_threads(void) {
  const struct timespec moment = {.tv_nsec = 1000000};
  while (count_all_threads() > 2)
    nanosleep(&moment, NULL);
  pthread_sigmask(SIG_SETMASK, &signals_of_main, NULL);
}

bool fbtweak__wait(pthread_cond_t *changed, pthread_mutex_t *mutex, long seconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += seconds;
  return pthread_cond_timedwait(changed, mutex, &deadline) != ETIMEDOUT;
}

/*
 * The hashing parameters of the Swift runtime that this image uses. A constructor of the runtime
 * initialises them: two random seeds, or true where they are to be 0. Embedded Swift has neither:
 * it chooses the seeds when they are first needed.
 */
extern const struct {
  uint64_t seeds[2];
  bool is_deterministic;
} _swift_stdlib_Hashing_parameters __attribute__((weak));

bool fbtweak__runtime_is_ready(void) {
  return !&_swift_stdlib_Hashing_parameters || _swift_stdlib_Hashing_parameters.seeds[0] ||
         _swift_stdlib_Hashing_parameters.seeds[1] ||
         _swift_stdlib_Hashing_parameters.is_deterministic;
}

/* Present in programs built with ThreadSanitizer. */
extern void __tsan_init(void) __attribute__((weak));

bool fbtweak__may_start_threads_after_fork(void) {
  return !__tsan_init;
}
