/* The program that tools/development/toolchains builds: one line of output for each tweak that it
 * reads. */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>

#include <fbtweak.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints the results of all functions below. In a library, this is what the program calls. */
int probe_report(void);

/* values.c: one of each type. */
bool probe_bool(void);
int probe_int(void);
int probe_limited_int(void);
double probe_double(void);
double probe_limited_double(void);
const char *probe_string(void);
const char *probe_empty_string(void);
int probe_static_functions(void);

/* forms.c: prints the rest. */
void probe_forms(void);

/* side_effect.c: the result is unused. */
int probe_touch(void);
extern int probe_touched;

/* linked_member.c, in an archive beside unlinked_member.c, to which nothing refers. */
int probe_linked_member(void);

/* Called by two units, so each unit has a record of its own. */
static inline int probe_static_inline(void) {
  return FBTweakValue("Probe", "Inline", "Static", 61);
}
int probe_static_inline_elsewhere(void);

#ifdef __cplusplus
}
#endif

#endif
