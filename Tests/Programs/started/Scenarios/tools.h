/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for files, processes and sockets, which report failures on standard error. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdbool.h>

#include "values.h"

/* Waits up to half a minute until all values are as expected, and compares them. */
bool wait_for(const struct values *right, const char *moment);

void pause_for(int milliseconds);
/* In seconds. */
double now(void);

/* The path of the overrides file. */
const char *overrides_path(void);
/* Waits until the overrides file contains a text, or no longer does, ignoring white space. */
bool wait_for_file(const char *text, bool has, const char *moment);
/* Replaces a file by another, as an editor does. */
bool replace(const char *path, const char *text);
/* The path of a file beside the program. */
const char *beside(const char *name);

/* Runs `tweak` on this process once it accepts requests, with a verb and NULL-terminated arguments.
 */
bool tweak(const char *command, const char *verb, ...) __attribute__((sentinel));

/* A connection to the socket of this process; -1 if there is none. */
int connect_to_self(void);
/* Sends a line, and reads until a text arrives. */
bool ask(int connection, const char *line, const char *answer);
bool expect(int connection, const char *answer);

#endif
