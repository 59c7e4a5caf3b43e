/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls into the library from C. */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A call into the library. While it lasts, forks wait and the thread cannot be cancelled, except in
 * calls of the program's code. An exception thrown there waits here until Swift's functions have
 * returned, because they do not clean up when one passes through them; leaving rethrows it.
 */
struct fbtweak__entry {
  struct fbtweak__entry *outer;
  void *exception;
  int functions; /* of the program that were running on the thread */
  int cancel_state;
  bool holds_forks;
  bool hides_accesses;
};
void fbtweak__enter(struct fbtweak__entry *entry);
void fbtweak__leave(struct fbtweak__entry *entry);

#ifdef __cplusplus
}
#endif

#endif /* CALLS_H */
