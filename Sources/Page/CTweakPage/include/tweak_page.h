/* SPDX-License-Identifier: BSD-3-Clause */
/// The files of the page, which are inside the executable.
#ifndef TWEAK_PAGE_H
#define TWEAK_PAGE_H

#include <stddef.h>

struct tweak_page_file {
  const char *name;
  const unsigned char *bytes;
  size_t size;
};

/// Returns a file by its position in the list; its name is NULL behind the last one.
struct tweak_page_file tweak_page_file_at(size_t place);

#endif
