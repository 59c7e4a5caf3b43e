/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Publishes the values that it has, so that others see them without asking any tool:
 *
 *     program run FOLDER WORKERS    writes them into FOLDER/PROCESS, as do its forked workers
 *     program once                  prints the first
 *     program measure FOLDER        prints the smallest first value of all that write there
 *
 * ADOPTED makes plain variables of the tweaks. GATE has a gate, which the loop passes unless
 * GATE_CLOSED is in the environment and there is no file FOLDER/open.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fbtweak.h>

#ifdef ADOPTED
volatile int a = 1, b = 1;
#  define A a
#  define B b
#else
#  define A FBTweakValue("Truth", "Values", "A", 1, 0, 1000)
#  define B FBTweakValue("Truth", "Values", "B", 1, 0, 1000)
#endif

/* What a process has. The turn counts the times that it was written, and is written last. */
struct state {
  int32_t a, b;
  uint64_t turn;
};

static volatile struct state *state_of(const char *folder, const char *name, int flags) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int file = open(path, flags, 0644);
  if (file < 0)
    return NULL;
  if ((flags & O_CREAT) != 0 && ftruncate(file, sizeof(struct state)) != 0)
    return NULL;
  int protection = flags & O_CREAT ? PROT_READ | PROT_WRITE : PROT_READ;
  void *state = mmap(NULL, sizeof(struct state), protection, MAP_SHARED, file, 0);
  close(file);
  return state == MAP_FAILED ? NULL : state;
}

static int publish(const char *folder) {
  char name[32], opener[4096];
  snprintf(name, sizeof name, "%d", (int)getpid());
  snprintf(opener, sizeof opener, "%s/open", folder);
  volatile struct state *state = state_of(folder, name, O_RDWR | O_CREAT);
  if (state == NULL) {
    perror(folder);
    return 1;
  }
#ifdef GATE
  bool is_closed = getenv("GATE_CLOSED") != NULL;
#endif
  for (;;) {
#ifdef GATE
    if (!is_closed || access(opener, F_OK) == 0)
      FBTweakGate("Truth");
#endif
    state->a = A;
    state->b = B;
    __atomic_store_n(&state->turn, state->turn + 1, __ATOMIC_RELEASE);
    usleep(1000);
  }
}

static int measure(const char *folder) {
  int smallest = INT32_MAX;
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    int process = atoi(entry->d_name);
    if (process <= 0 || (kill(process, 0) != 0 && errno == ESRCH))
      continue;
    volatile struct state *state = state_of(folder, entry->d_name, O_RDONLY);
    if (state == NULL)
      continue;
    /* What was changed before is in a turn that begins now. */
    uint64_t begun = state->turn;
    for (int pauses = 0; state->turn < begun + 2 && pauses < 10000; pauses++)
      usleep(500);
    if (state->a < smallest)
      smallest = state->a;
  }
  if (smallest == INT32_MAX)
    return 1;
  printf("%d\n", smallest);
  return 0;
}

int main(int count, char **arguments) {
  const char *mode = count > 1 ? arguments[1] : "once";
  if (strcmp(mode, "once") == 0) {
    printf("%d\n", A);
    return 0;
  }
  if (count > 2 && strcmp(mode, "measure") == 0)
    return measure(arguments[2]);
  if (count < 4)
    return 64;
  for (int workers = atoi(arguments[3]); workers > 0; workers--) {
    pid_t worker = fork();
    if (worker < 0)
      return 71;
    if (worker == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      break;
    }
  }
  return publish(arguments[2]);
}
