/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CCOMMANDSUPPORT_H
#define CCOMMANDSUPPORT_H

/* Returns the number of arguments, with the program's name; 0 if there are none at all. */
int fbtweak__argument_count(void);

/* Returns the arguments, ended by a null pointer; null if there are none at all. */
char **fbtweak__arguments(void);

/* The processes to which a started one belongs. */
enum fbtweak__group {
  FBTWEAK__SAME_GROUP,
  FBTWEAK__OWN_GROUP,
  FBTWEAK__OWN_SESSION,
};

/* Starts a program: a path, or a name to look up in the search path; null for the first argument.
 *
 * `variables` is null for the environment of this process, and `directory` for its directory.
 * `standard` are the descriptors to become standard input, output and error, or -1 for those of
 * this process. `mask` is the sigset_t of the blocked signals, or null for those of this thread.
 * With `resets_signals` no signal is ignored. Returns 0 or an error number. */
int fbtweak__start(int *pid, const char *program, char *const arguments[], char *const variables[],
                   const char *directory, const int standard[3], enum fbtweak__group group,
                   const void *mask, int resets_signals);

/* Makes a pipe whose ends are closed by exec, so that no program started meanwhile inherits them.
 * Returns 0 or an error number. */
int fbtweak__pipe(int ends[2]);

/* Makes an empty file in memory, closed by exec. Returns its descriptor, or -1 with errno. */
int fbtweak__memory_file(const char *name);

#endif
