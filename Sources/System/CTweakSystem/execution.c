/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's treatment of an executed file, and the user of this process. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <endian.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ctweaksystem.h"

/* Whether the file's capabilities(7) exceed those of an ordinary user. */
static bool grants_capabilities(const char *path) {
  struct vfs_ns_cap_data data;
  ssize_t size = getxattr(path, "security.capability", &data, sizeof(data));
  if (size < (ssize_t)XATTR_CAPS_SZ_1 || getuid() == 0)
    return false;
  if (le32toh(data.magic_etc) & VFS_CAP_FLAGS_EFFECTIVE)
    return true;
  return data.data[0].permitted != 0 ||
         (size >= (ssize_t)XATTR_CAPS_SZ_2 && data.data[1].permitted != 0);
}

bool fbtweak__gains_rights(const char *path) {
  if (geteuid() != getuid() || getegid() != getgid())
    return true;
  struct stat file;
  struct statvfs mount;
  if (stat(path, &file) != 0 || (statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID)))
    return false;
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
    if ((file.st_mode & S_ISUID) && file.st_uid != getuid())
      return true;
    /* Without group execute permission the bit has another meaning. */
    if ((file.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && file.st_gid != getgid())
      return true;
  }
  return grants_capabilities(path);
}

const char *fbtweak__trusted_environment(const char *name) {
  return secure_getenv(name);
}

bool fbtweak__user(uint32_t *user) {
  uid_t real, effective, saved;
  if (getresuid(&real, &effective, &saved) != 0 || real != effective || real != saved)
    return false;
  *user = real;
  return true;
}

bool fbtweak__ignores(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int fbtweak__await_termination(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0)
    return -1;
  return fbtweak__above_standard(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}
