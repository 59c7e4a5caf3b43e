/* What the scenarios do with files, processes and sockets, and say on standard error what fails. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdbool.h>

#include "values.h"

/* Waits until all values are right, for at most half a minute, and compares them. */
bool wait_for(const struct values *right, const char *moment);

void pause_for(int milliseconds);
/* In seconds. */
double now(void);

/* The path of the overrides file. */
const char *overrides_path(void);
/* Waits until the overrides file has a text, or does not have it. White space does not count. */
bool wait_for_file(const char *text, bool has, const char *moment);
/* Puts a file in the place of another, as an editor does. */
bool replace(const char *path, const char *text);
/* The path of a file beside the program. */
const char *beside(const char *name);

/* Runs `tweak` on this process when that can be asked, with what follows it after the verb; NULL is
 * the last argument. */
bool tweak(const char *command, const char *verb, ...) __attribute__((sentinel));

/* A connection to the socket of this process; -1 if there is none. */
int connect_to_self(void);
/* Sends a line, and reads until a text comes. */
bool ask(int connection, const char *line, const char *answer);
bool expect(int connection, const char *answer);

#endif
