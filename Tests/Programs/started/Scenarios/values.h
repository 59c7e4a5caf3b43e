/* SPDX-License-Identifier: BSD-3-Clause */
/* The tweaks of the program, and their expected values. */
#ifndef VALUES_H
#define VALUES_H

#include <fbtweak.h>
#include <stdbool.h>

enum { SLOTS = 32, LIMITS = 8 };

/* The states of files and environment: the folders in `states`. */
enum state {
  NONE,
  FEW,
  OVERRIDES,
  FEATURES,
  PROVIDERS,
  ENVIRONMENT,
  CORRUPT,
  OTHERS,
  UNKNOWN_STATE
};
enum state state_named(const char *name);
bool has_overrides(enum state state);

struct values {
  bool flag;
  int count;
  double ratio;
  const char *text;
  fbtweak_color ink;
  const char *mode;
  int kelvin, umlaut;
  bool search, history;
  int slots[SLOTS], limits[LIMITS];
  /* The tweak of the other library, if loaded. */
  int other;
};

/* The expected values in a state. Without overrides: after a reset. */
struct values values_in(enum state state, bool with_overrides);

/*
 * Compares all tweaks, read in code and through handles, with the expected values. Differences are
 * reported on standard error with the moment.
 */
bool verify(const struct values *right, const char *moment);

/* The value of a slot, read in code. */
int slot(int number);
const fbtweak *slot_handle(int number);
/* One value as a whole, to wait for. */
bool are(const struct values *right);

/* What the main function does with presets, if it can. */
bool main_uses_presets(void);

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
