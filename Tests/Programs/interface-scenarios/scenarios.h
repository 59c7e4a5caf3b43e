/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A C program with the Tweaks library. Each scenario tests one use of fbtweak.h and stops at the
 * first failure.
 */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include <fbtweak.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition_)                                                                         \
  do {                                                                                             \
    if (!(condition_)) {                                                                           \
      fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition_,                 \
              fbtweak_error());                                                                    \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)
#define EXPECT_TEXT(text_, expected_) EXPECT(strcmp(text_, expected_) == 0)
/* Checks that the last error message contains a text. */
#define EXPECT_ERROR(part_) EXPECT(strstr(fbtweak_error(), part_))

#ifdef __cplusplus
extern "C" {
#endif

/* tweaks.c: the tweaks of all scenarios. */
int level(void);       /* Sound/Mixer/Level: 5, from 0 to 10 */
double gain(void);     /* Sound/Mixer/Gain: 0.5, from 0 to 1 */
bool muted(void);      /* Sound/Mixer/Muted: false */
const char *bus(void); /* Sound/Output/Bus: "main" */
unsigned char octet(void);
long long wide(void);
float ratio(void);

/* Scenarios, in files named after their topics. */
void find_and_read(void);
void describe(void);
void walk(void);
void set_and_reset(void);
void refuse(void);
void bind_variables(void);
void observe(void);
void observe_in_callbacks(void);
void observe_from_threads(void);
void observe_loads(const char *file_of_values);
void observe_another_type(const char *file_of_values);
void queue_changes(void);
void make_and_remove(void);
void run_actions(void);
void keep_after_fork(void);
void use_macros(void);
void bind_owners(void);
/* leaving.cpp */
void leave_by_exception(void);
void leave_by_end_of_thread(void);
void cancel_at_any_time(const char *count_of_rounds);
/* crowds.c */
void set_beside_others(void);
void set_without_growing(const char *count_of_sets);
/* plugins.c: needs the paths of two copies of a plug-in. */
void open_and_close(const char *plugin, const char *copy);
void open_with_override(const char *plugin);
void open_and_keep(const char *plugin);
void open_often(const char *plugin, const char *count_of_rounds);
/* threads.c */
void read_while_set(const char *seconds);
void fork_while_used(const char *forks);
void open_while_used(const char *plugin, const char *rounds);

#ifdef __cplusplus
}
#endif

#endif
