/* Writes what the program must not suffer from: it gets no signal, and waits for nobody. */
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
 * Keeps what a write may raise from this thread: SIGPIPE if nobody reads, SIGXFSZ beyond
 * RLIMIT_FSIZE, SIGTTOU on the terminal of another job, which the kernel does not even raise if it
 * is blocked. Nor is the thread cancelled, since write is where that would happen.
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

/* Takes away what a write that failed with this error has raised, and nothing that was there. */
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

/* 1 or 0, and -1 before anybody has looked. */
static int has_standard_error = -1;

/*
 * A process that is started without standard error has none for ever: what gets its number later is
 * a file of the program's. Before the loader, which has a later priority.
 */
__attribute__((constructor(101))) static void look_for_standard_error(void) {
  if (has_standard_error < 0)
    has_standard_error = fcntl(STDERR_FILENO, F_GETFD) >= 0;
}

/*
 * Writes at once or not at all into a pipe or terminal: a write waits for who reads, and whether it
 * would is not known before, since others write too. Another opening of the same file can be one
 * that does not wait; to change that of standard error itself would change it for all who share it.
 */
static ssize_t write_without_waiting(const void *line, size_t size) {
  int flags = fcntl(STDERR_FILENO, F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK))
    return write(STDERR_FILENO, line, size);
  int other = fbtweak__above_standard(
      open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (other < 0) {
    /* Nobody reads. */
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
