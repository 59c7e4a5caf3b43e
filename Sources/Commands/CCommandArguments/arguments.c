#include "ccommandarguments.h"

#include <stddef.h>

static int count;
static char **arguments;

/* Swift looks for the arguments in front of the environment. That is elsewhere once a library that
 * is loaded before, as libfaketime is, has set a variable. The C library of GNU gives them to
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
