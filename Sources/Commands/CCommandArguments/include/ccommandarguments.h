/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CCOMMANDARGUMENTS_H
#define CCOMMANDARGUMENTS_H

/* Returns the number of arguments, with the program's name; 0 if there are none at all. */
int fbtweak__argument_count(void);

/* Returns the arguments, ended by a null pointer; null if there are none at all. */
char **fbtweak__arguments(void);

#endif
