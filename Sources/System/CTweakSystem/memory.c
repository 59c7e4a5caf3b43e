/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to the memory of another process without stopping it: process_vm_readv(2),
 * process_vm_writev(2). */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaksystem.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#  define SYS_pidfd_open 434
#endif
#ifndef IOV_MAX
#  define IOV_MAX 1024
#endif

int fbtweak__open_process(pid_t process) {
  return (int)syscall(SYS_pidfd_open, process, 0);
}

bool fbtweak__process_has_ended(int descriptor) {
  struct pollfd entry = {.fd = descriptor, .events = POLLIN};
  return poll(&entry, 1, 0) > 0;
}

typedef ssize_t move_function(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                              unsigned long, unsigned long);

static ssize_t move_all(move_function *move, pid_t process, const struct iovec *here,
                        const struct iovec *there, size_t count) {
  ssize_t total = 0;
  for (size_t first = 0; first < count;) {
    size_t pieces = count - first < IOV_MAX ? count - first : IOV_MAX;
    size_t wanted = 0;
    for (size_t i = 0; i < pieces; i++)
      wanted += here[first + i].iov_len;
    ssize_t moved = move(process, here + first, pieces, there + first, pieces, 0);
    if (moved < 0)
      return total > 0 ? total : -1;
    total += moved;
    if ((size_t)moved < wanted) {
      errno = EFAULT;
      return total;
    }
    first += pieces;
  }
  return total;
}

ssize_t fbtweak__read_process(pid_t process, const struct iovec *here, const struct iovec *there,
                              size_t count) {
  return move_all(process_vm_readv, process, here, there, count);
}

ssize_t fbtweak__write_process(pid_t process, const struct iovec *here, const struct iovec *there,
                               size_t count) {
  return move_all(process_vm_writev, process, here, there, count);
}
