/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameter of scenarios, and their common declarations. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "tools.h"
#include "values.h"

/* Following and the socket start a quarter of a second after the program. */
enum { A_WHILE = 300 /* ms */ };

struct process {
  enum state state;
  /* The command `tweak`. */
  const char *tweak;
  /* With the overrides, and without them. */
  struct values right, base;
};

#define CHECK(condition_)                                                                          \
  do {                                                                                             \
    if (!(condition_)) {                                                                           \
      complain("%s: %s; the last error was: %s", __func__, #condition_, fbtweak_error());          \
      return false;                                                                                \
    }                                                                                              \
  } while (0)

bool soaks(struct process *self);

#endif
