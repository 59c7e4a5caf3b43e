/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes that cannot harm the program: they raise no signal and do not block. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctweaksystem.h"

struct held_signals {
  sigset_t before;
  sigset_t pending;
  int cancelling;
};

/*
 * Blocks the signals that a write may raise on this thread: SIGPIPE if there is no reader, SIGXFSZ
 * beyond RLIMIT_FSIZE, SIGTTOU on the terminal of another job, which the kernel does not even raise
 * if blocked. It also disables cancellation, for which write is a cancellation point.
 */
static struct held_signals hold_signals(void) {
  struct held_signals held;
  sigset_t raised;
  sigemptyset(&raised);
  sigaddset(&raised, SIGPIPE);
  sigaddset(&raised, SIGXFSZ);
  sigaddset(&raised, SIGTTOU);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held.cancelling);
  pthread_sigmask(SIG_BLOCK, &raised, &held.before);
  sigemptyset(&held.pending);
  sigpending(&held.pending);
  return held;
}

/* Removes a pending signal that a write failing with this error has raised, and no other. */
static void release_signals(struct held_signals held, int error) {
  int number = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
  if (number != 0 && sigismember(&held.pending, number) == 0) {
    const struct timespec now = {0};
    sigset_t raised;
    sigemptyset(&raised);
    sigaddset(&raised, number);
    while (sigtimedwait(&raised, NULL, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &held.before, NULL);
  pthread_setcancelstate(held.cancelling, NULL);
}

ssize_t fbtweak__write(int descriptor, const void *bytes, size_t size, off_t offset) {
  struct held_signals held = hold_signals();
  ssize_t count = pwrite(descriptor, bytes, size, offset);
  int error = count < 0 ? errno : 0;
  release_signals(held, error);
  if (count < 0)
    errno = error;
  return count;
}

/* 1 or 0, and -1 before the check. */
static int has_standard_error = -1;

/*
 * A process started without standard error never has one: a descriptor with its number is a file of
 * the program's. Runs before the loader, whose priority is later.
 */
__attribute__((constructor(101))) static void look_for_standard_error(void) {
  if (has_standard_error < 0)
    has_standard_error = fcntl(STDERR_FILENO, F_GETFD) >= 0;
}

/*
 * Writes to a pipe or terminal without blocking: a write may wait for the reader, which cannot be
 * predicted because others write, too. Reopening the file yields a description that can be made
 * non-blocking; changing that of standard error itself would affect everyone who shares it.
 */
static ssize_t write_without_waiting(const void *line, size_t size) {
  int flags = fcntl(STDERR_FILENO, F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK))
    return write(STDERR_FILENO, line, size);
  int other = fbtweak__above_standard(
      open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (other < 0) {
    /* There is no reader. */
    if (errno == ENXIO)
      return -1;
    /* No /proc, or a pipe of another user. */
    struct pollfd standard_error = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&standard_error, 1, 0) <= 0 || !(standard_error.revents & POLLOUT))
      return -1;
    return write(STDERR_FILENO, line, size);
  }
  ssize_t count = write(other, line, size);
  int error = errno;
  close(other);
  errno = error;
  return count;
}

void fbtweak__say(const char *line, size_t size) {
  int before = errno;
  struct stat status;
  look_for_standard_error();
  if (has_standard_error && fstat(STDERR_FILENO, &status) == 0) {
    struct held_signals held = hold_signals();
    ssize_t count;
    errno = 0;
    if (S_ISSOCK(status.st_mode))
      count = send(STDERR_FILENO, line, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    else if (S_ISFIFO(status.st_mode) || isatty(STDERR_FILENO))
      count = write_without_waiting(line, size);
    else
      count = write(STDERR_FILENO, line, size);
    release_signals(held, count < 0 ? errno : 0);
  }
  errno = before;
}
