/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the descriptors of standard input, output and error for the program. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
/* musl has struct statx since 1.2.5. */
#ifndef STATX_TYPE
#  include <linux/stat.h>
#endif

#include "ctweaksystem.h"

int fbtweak__above_standard(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO)
    return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = errno;
  close(descriptor);
  errno = error;
  return moved;
}

int fbtweak__open(int folder, const char *path, int flags, unsigned mode) {
  if ((flags & O_ACCMODE) == O_RDONLY)
    return fbtweak__above_standard(openat(folder, path, flags, mode));
  /*
   * A file for writing must not have such a number even for a moment, because output of another
   * thread would end up in it. So the free numbers are occupied meanwhile, by something that is not
   * writable.
   */
  int taken[STDERR_FILENO + 1];
  int count = 0;
  while (count <= STDERR_FILENO) {
    int number = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (number < 0)
      break;
    if (number > STDERR_FILENO) {
      close(number);
      break;
    }
    taken[count++] = number;
  }
  int descriptor = fbtweak__above_standard(openat(folder, path, flags, mode));
  int error = errno;
  while (count > 0)
    close(taken[--count]);
  errno = error;
  return descriptor;
}

int fbtweak__is_mount_root(const char *path) {
#ifndef STATX_ATTR_MOUNT_ROOT
  enum { STATX_ATTR_MOUNT_ROOT = 0x2000 };
#endif
  struct statx status;
  if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &status) != 0)
    return errno == ENOSYS || errno == EPERM ? -1 : 0;
  if (!(status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
    return -1;
  return (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

bool fbtweak__flush_file_system(int descriptor) {
  return syncfs(descriptor) == 0;
}

bool fbtweak__lock_description(int descriptor, bool is_locked) {
  struct flock lock = {.l_type = is_locked ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

/* Wakes an event loop when a queue has changes. */
int fbtweak__make_event(void) {
  return fbtweak__above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void fbtweak__raise_event(int descriptor) {
  /* Fails only if the count is at its maximum; then the descriptor is readable anyway. */
  eventfd_write(descriptor, 1);
}

bool fbtweak__lower_event(int descriptor) {
  eventfd_t count;
  return eventfd_read(descriptor, &count) == 0 || errno == EAGAIN || errno == EINTR;
}

const char *fbtweak__executed_file(void) {
  return (const char *)getauxval(AT_EXECFN);
}

bool fbtweak__poll(struct pollfd *awaited, size_t count, int64_t nanoseconds) {
  struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  return ppoll(awaited, count, nanoseconds < 0 ? NULL : &timeout, NULL) >= 0 || errno == EINTR;
}
