/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects changes of the root directory. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <sys/stat.h>

#include "ctweaksystem.h"

static struct stat first_root;

__attribute__((constructor(101))) static void look_at_root(void) {
  if (stat("/", &first_root) != 0)
    first_root.st_nlink = 0;
}

bool fbtweak__has_other_root(void) {
  struct stat root;
  return first_root.st_nlink != 0 && stat("/", &root) == 0 &&
         (root.st_dev != first_root.st_dev || root.st_ino != first_root.st_ino);
}
