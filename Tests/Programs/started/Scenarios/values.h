/* The tweaks of the program, and what they should have. */
#ifndef VALUES_H
#define VALUES_H

#include <fbtweak.h>
#include <stdbool.h>

enum { SLOTS = 32, LIMITS = 8 };

/* In which state the files and the environment of the process are: the folders in `states`. */
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
  /* Of the other library, if that is loaded. */
  int other;
};

/* What is right in a state. Without overrides: after a reset. */
struct values values_in(enum state state, bool with_overrides);

/*
 * Compares all tweaks, as they are read in the code and by their handles, with what is right. What
 * differs is said on standard error with the moment.
 */
bool verify(const struct values *right, const char *moment);

/* What a slot is in the code. */
int slot(int number);
const fbtweak *slot_handle(int number);
/* One value as a whole, to wait for. */
bool are(const struct values *right);

/* What the main function does with presets, if it can. */
bool main_uses_presets(void);

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
