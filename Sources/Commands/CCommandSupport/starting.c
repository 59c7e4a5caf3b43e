/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts programs. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ccommandsupport.h"

int fbtweak__start(int *pid, const char *program, char *const arguments[], char *const variables[],
                   const char *directory, const int standard[3], enum fbtweak__group group,
                   const void *mask, int resets_signals) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return ENOMEM;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  int problem = 0;
  for (int number = 0; number < 3 && problem == 0; ++number)
    if (standard[number] >= 0)
      problem = posix_spawn_file_actions_adddup2(&actions, standard[number], number);
  if (problem == 0 && directory)
    problem = posix_spawn_file_actions_addchdir_np(&actions, directory);
  int flags = group == FBTWEAK__OWN_SESSION ? POSIX_SPAWN_SETSID
              : group == FBTWEAK__OWN_GROUP ? POSIX_SPAWN_SETPGROUP
                                            : 0;
  if (mask) {
    posix_spawnattr_setsigmask(&attributes, mask);
    flags |= POSIX_SPAWN_SETSIGMASK;
  }
  if (resets_signals) {
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);
    flags |= POSIX_SPAWN_SETSIGDEF;
  }
  posix_spawnattr_setflags(&attributes, (short)flags);
  if (problem == 0)
    problem = posix_spawnp(pid, program ? program : arguments[0], &actions, &attributes, arguments,
                           variables ? variables : environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

int fbtweak__pipe(int ends[2]) {
  return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
}

int fbtweak__memory_file(const char *name) {
  return memfd_create(name, MFD_CLOEXEC);
}
