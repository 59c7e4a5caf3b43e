/* SPDX-License-Identifier: BSD-3-Clause */
#include "ccommandsupport.h"

#include <stddef.h>

static int count;
static char **arguments;

/* Swift looks for the arguments in front of the environment. A library that is loaded earlier and
 * sets a variable, as libfaketime does, moves the environment. glibc also passes the arguments to
 * constructors. */
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
  count = argc;
  arguments = argv;
}

int fbtweak__argument_count(void) {
  return arguments == NULL || count < 0 ? 0 : count;
}

char **fbtweak__arguments(void) {
  return arguments;
}
