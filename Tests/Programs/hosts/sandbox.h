/* SPDX-License-Identifier: BSD-3-Clause */
/* Restricts hosts: drops root's privileges and system calls. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static inline int drop_rights(void) {
  return setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0 ? 0 : -1;
}

/*
 * Refuses new threads, and optionally polling. clone3 reports ENOSYS, because a filter cannot see
 * its flags, and the C library falls back to clone.
 */
static inline int refuse(bool waiting_too) {
  enum {
    NUMBER = offsetof(struct seccomp_data, nr),
    FLAGS = offsetof(struct seccomp_data, args[0])
  };
#define RETURN(value_) BPF_STMT(BPF_RET | BPF_K, (value_))
#define IF_CALL(number_, skipped_) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number_), 0, (skipped_))
  struct sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NUMBER),
      IF_CALL(SYS_clone3, 1),
      RETURN(SECCOMP_RET_ERRNO | ENOSYS),
      IF_CALL(waiting_too ? SYS_ppoll : SYS_clone3, 1),
      RETURN(SECCOMP_RET_ERRNO | EPERM),
      IF_CALL(SYS_clone, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
      RETURN(SECCOMP_RET_ERRNO | EPERM),
      RETURN(SECCOMP_RET_ALLOW),
  };
#undef RETURN
#undef IF_CALL
  struct sock_fprog filter = {sizeof(instructions) / sizeof(instructions[0]), instructions};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
}

#endif
