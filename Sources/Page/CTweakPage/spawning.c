/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts programs that outlive this one. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tweak_page.h"

int tweak_page_spawn(pid_t *pid, const char *path, char *const arguments[], char *const variables[],
                     const char *directory, const int standard[3]) {
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
    problem = posix_spawn_file_actions_adddup2(&actions, standard[number], number);
  if (problem == 0 && directory)
    problem = posix_spawn_file_actions_addchdir_np(&actions, directory);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (problem == 0)
    problem =
        posix_spawnp(pid, path, &actions, &attributes, arguments, variables ? variables : environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

int tweak_page_pipe(int ends[2]) {
  return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
}

int tweak_page_memory(void) {
  return memfd_create("tweak-ui", MFD_CLOEXEC);
}
