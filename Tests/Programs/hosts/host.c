/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body of every host, in any language. It is controlled by environment variables, because a
 * Swift program has no arguments without /proc.
 *
 * It creates the part of its environment (HOST_ENVIRONMENT) that follows the start of the library,
 * writes "ready" and its process ID to standard output, waits, and writes "idle" and the percentage
 * of CPU time used meanwhile. Then the number must become 41: set by others, or by the host itself
 * when it reads "own" from standard input. It writes "set". At "end" it sets the number to 42 and
 * exits at once in the way of HOST_ENDING; before a signal it sets nothing. A daemon writes
 * "daemon" and its process ID, and sets 43.
 *
 * HOST_PLUGIN is the plug-in with the tweak, if the program does not have it; HOST_ROOT the folder
 * for chroot; HOST_ENDER the program for exec. Without the library (HOST_BARE) nothing is set.
 *
 * The status is 7 if the host chooses it, 99 if nobody tells it to end, and 125 for failures
 * unrelated to the library.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "host.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sandbox.h"

enum { STATUS = 7, UNTOLD = 99, IMPOSSIBLE = 125, STEP = 2000 /* µs */, PATIENCE = 60 /* s */ };
/* The library watches files from a quarter of a second after the start. */
enum { IDLE = 999999 /* µs */, WRITING = 1000 /* µs */, MORE_MEMORY = 1 << 20 };

#pragma weak host_number
#pragma weak host_set_number
#pragma weak host_flush
static int (*number)(void);
static bool (*set_number)(int number);
static void (*flush)(void);

static void fail(const char *what) {
  perror(what);
  _exit(IMPOSSIBLE);
}

static void take_tweak(void) {
  const char *path = getenv("HOST_PLUGIN");
  number = host_number;
  set_number = host_set_number;
  flush = host_flush;
  if (!path)
    return;
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin) {
    *(void **)&number = dlsym(plugin, "host_number");
    *(void **)&set_number = dlsym(plugin, "host_set_number");
    *(void **)&flush = dlsym(plugin, "host_flush");
  } else {
    fprintf(stderr, "%s\n", dlerror());
    _exit(IMPOSSIBLE);
  }
}

static void limit(int resource, rlim_t value) {
  if (setrlimit(resource, &(struct rlimit){value, value}) != 0)
    fail("setrlimit");
}
/* The memory of the process and a little more. With jemalloc the first allocation of any thread
 * must not fail. */
static void limit_memory(void) {
  unsigned long pages = 0;
  usleep(50 * STEP);
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1)
    fail("statm");
  fclose(file);
  limit(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + MORE_MEMORY);
}

static void change_environment(const char *environment) {
  if (strcmp(environment, "dropped-after") == 0) {
    if (drop_rights() != 0)
      fail("setuid");
  } else if (strcmp(environment, "chroot") == 0) {
    if (chroot(getenv("HOST_ROOT")) != 0 || chdir("/") != 0)
      fail("chroot");
  } else if (strcmp(environment, "seccomp-later") == 0) {
    if (refuse(true) != 0)
      fail("seccomp");
  } else if (strcmp(environment, "as") == 0) {
    limit_memory();
  } else if (strcmp(environment, "nofile") == 0) {
    limit(RLIMIT_NOFILE, 0);
  } else if (strcmp(environment, "nproc") == 0) {
    limit(RLIMIT_NPROC, 0);
  }
}

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Waits until the number has the given value, unless that is -1, or a word arrives. Sets the number
 * on request. */
static void wait_for(const char *word, int awaited) {
  double deadline = seconds(CLOCK_MONOTONIC) + PATIENCE;
  char said[8] = "";
  while (awaited < 0 || number() != awaited) {
    ssize_t length = read(0, said, sizeof(said) - 1);
    if (length > 0 && strncmp(said, word, strlen(word)) == 0) {
      if (awaited < 0 || (set_number && set_number(awaited)))
        return;
      fprintf(stderr, "cannot set the number\n");
      _exit(UNTOLD);
    }
    if (length == 0 || seconds(CLOCK_MONOTONIC) > deadline)
      _exit(UNTOLD);
    usleep(STEP);
  }
}

static int become_daemon(bool is_bare) {
  /* While a thread of the library saves the number. */
  usleep(WRITING);
  if (daemon(1, 1) != 0)
    fail("daemon");
  dprintf(1, "daemon %d\n", (int)getpid());
  if (!is_bare && !set_number(43) && strcmp(getenv("HOST_ENVIRONMENT"), "as") != 0)
    return 1;
  return STATUS;
}

int host_run(void) {
  const char *environment = getenv("HOST_ENVIRONMENT"), *ending = getenv("HOST_ENDING");
  if (!environment || !ending)
    return IMPOSSIBLE;
  const char *ender = strcmp(environment, "chroot") == 0 ? "/ender" : getenv("HOST_ENDER");
  bool is_bare = getenv("HOST_BARE") != NULL;
  /* With a plug-in the host itself can drop its privileges before the library starts. */
  if (strcmp(environment, "dropped-before") == 0 && getuid() == 0 && drop_rights() != 0)
    fail("setuid");
  take_tweak();
  change_environment(environment);
  fcntl(0, F_SETFL, O_NONBLOCK);
  dprintf(1, "ready %d\n", (int)getpid());

  double began = seconds(CLOCK_MONOTONIC), worked = seconds(CLOCK_PROCESS_CPUTIME_ID);
  usleep(IDLE);
  worked = seconds(CLOCK_PROCESS_CPUTIME_ID) - worked;
  dprintf(1, "idle %d\n", (int)(100 * worked / (seconds(CLOCK_MONOTONIC) - began)));
  if (!is_bare)
    wait_for("own", 41);
  dprintf(1, "set\n");
  wait_for("end", -1);

  if (strcmp(ending, "SIGTERM") == 0)
    for (;;)
      pause();
  if (strcmp(ending, "abort") == 0)
    abort();
  if (!is_bare && !set_number(42)) {
    /* Without memory a set may fail. */
    if (strcmp(environment, "as") != 0)
      return 1;
    fprintf(stderr, "the set is refused\n");
  }
  if (strcmp(ending, "exit") == 0)
    exit(STATUS);
  if (strcmp(ending, "pthread_exit") == 0)
    pthread_exit(NULL);
  if (strcmp(ending, "exec") == 0) {
    if (!is_bare)
      flush();
    execl(ender, ender, (char *)NULL);
    fail(ender);
  }
  return strcmp(ending, "daemon") == 0 ? become_daemon(is_bare) : STATUS;
}
