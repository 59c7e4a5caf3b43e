/* SPDX-License-Identifier: BSD-3-Clause */
/// The parts of tweak-ui in C: the files of the page, which are inside the executable, and starting
/// programs.
#ifndef TWEAK_PAGE_H
#define TWEAK_PAGE_H

#include <stddef.h>
#include <sys/types.h>

struct tweak_page_file {
  const char *name;
  const unsigned char *bytes;
  size_t size;
};

/// Returns a file by its position in the list; its name is NULL behind the last one.
struct tweak_page_file tweak_page_file_at(size_t place);

/// Starts a program in a session of its own, with no signal blocked or ignored. It inherits
/// standard input, output and error, and descriptors that are not close-on-exec.
///
/// `variables` is NULL for the environment of this process, `directory` for its directory. Returns
/// 0 or an error number.
int tweak_page_spawn(pid_t *pid, const char *path, char *const arguments[], char *const variables[],
                     const char *directory, const int standard[3]);

/// Makes a pipe whose ends are close-on-exec, so that no program started meanwhile inherits them.
/// Returns 0 or an error number.
int tweak_page_pipe(int ends[2]);

/// Makes a file in memory, close-on-exec and empty. Returns its descriptor, or -1 with errno.
int tweak_page_memory(void);

#endif
