/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts a host in an environment that must exist before the start:
 *
 *     enter ENVIRONMENT COMMAND [ARGUMENT…]
 *
 *     user, nproc, dropped-before   as the user nobody
 *     seccomp                       threads are refused
 *     no-proc                       /proc is empty
 *
 * The host itself creates the other environments. The status is 125 if this one cannot be created.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sandbox.h"

static void require(int result, const char *what) {
  if (result == 0)
    return;
  perror(what);
  exit(125);
}

int main(int count, char **arguments) {
  if (count < 3)
    return 125;
  const char *environment = arguments[1];
  /* Hosts that abort leave no core dump. */
  require(setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}), "setrlimit");
  if (strcmp(environment, "no-proc") == 0) {
    require(unshare(CLONE_NEWNS), "unshare");
    require(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount /");
    require(mount("none", "/proc", "tmpfs", 0, NULL), "mount /proc");
  } else if (strcmp(environment, "user") == 0 || strcmp(environment, "nproc") == 0 ||
             strcmp(environment, "dropped-before") == 0) {
    require(drop_rights(), "setuid");
  } else if (strcmp(environment, "seccomp") == 0) {
    require(refuse(false), "seccomp");
  }
  execv(arguments[2], arguments + 2);
  perror(arguments[2]);
  return 125;
}
