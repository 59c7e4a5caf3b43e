/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal while a command draws on it, or waits for a key. Signal handlers only call functions
 * listed in signal-safety(7).
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaksystem.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Sequences of xterm: the alternate screen, the cursor, and line wrapping. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
static const char leave[] = "\033[?7h\033[?25h\033[?1049l";

static volatile sig_atomic_t is_taken;
static volatile sig_atomic_t has_changed;
static bool has_keys;
static bool has_screen;
static struct termios before;

/* Output that cannot be written now is lost, because the terminal is gone. */
static void say(const char *text, size_t size) {
  while (size > 0) {
    ssize_t count = write(STDOUT_FILENO, text, size);
    if (count <= 0)
      return;
    text += count;
    size -= (size_t)count;
  }
}

static void take(void) {
  if (has_keys) {
    struct termios keys = before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    keys.c_cc[VMIN] = has_screen ? 0 : 1;
    keys.c_cc[VTIME] = 0;
    /* Ctrl-C is a key for those who wait for one. */
    if (!has_screen)
      keys.c_cc[VINTR] = _POSIX_VDISABLE;
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  if (has_screen)
    say(enter, sizeof(enter) - 1);
  is_taken = 1;
  has_changed = 1;
}

void fbtweak__give_back_screen(void) {
  if (!is_taken)
    return;
  is_taken = 0;
  if (has_screen)
    say(leave, sizeof(leave) - 1);
  if (has_keys)
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void listen(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_flags = SA_NODEFER};
  struct sigaction old;
  /* Some signals may be ignored since the start, as with nohup. */
  if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
    return;
  action.sa_handler = handler;
  sigaction(number, &action, NULL);
}

static void stop_or_end(int number) {
  int error = errno;
  bool was_taken = is_taken;
  fbtweak__give_back_screen();
  signal(number, SIG_DFL);
  raise(number);
  /* Only reached by a stopped process when it continues. */
  listen(number, stop_or_end);
  if (was_taken && !is_taken)
    take();
  errno = error;
}

static void go_on(int number) {
  (void)number;
  int error = errno;
  /* SIGSTOP cannot be caught, and others may have used the terminal meanwhile. */
  if (is_taken)
    take();
  errno = error;
}

static void change(int number) {
  (void)number;
  has_changed = 1;
}

static void take_from(bool screen) {
  if (is_taken)
    return;
  has_screen = screen;
  static bool is_prepared;
  if (!is_prepared) {
    is_prepared = true;
    has_keys = tcgetattr(STDIN_FILENO, &before) == 0;
    static const int ending[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGTSTP,
                                 SIGUSR1, SIGUSR2, SIGALRM, SIGABRT, SIGXCPU};
    for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
      listen(ending[i], stop_or_end);
    listen(SIGCONT, go_on);
    listen(SIGWINCH, change);
    atexit(fbtweak__give_back_screen);
  }
  take();
}

void fbtweak__take_screen(void) {
  take_from(true);
}

void fbtweak__take_keys(void) {
  take_from(false);
}

bool fbtweak__screen_has_changed(void) {
  bool changed = has_changed;
  has_changed = 0;
  return changed;
}

void fbtweak__screen_size(int *columns, int *rows) {
  struct winsize size;
  bool is_known =
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  *columns = is_known ? size.ws_col : 80;
  *rows = is_known ? size.ws_row : 24;
}
