/// What of tweak-ui is in C: the files of the page, which are inside the executable, and how
/// programs are started.
#ifndef TWEAK_PAGE_H
#define TWEAK_PAGE_H

#include <stddef.h>
#include <sys/types.h>

struct tweak_page_file {
  const char *name;
  const unsigned char *bytes;
  size_t size;
};

/// The file of a place in the list; its name is NULL behind the last one.
struct tweak_page_file tweak_page_file_at(size_t place);

/// Starts a program in a session of its own, with no signal blocked or ignored. What it inherits
/// besides standard input, output and error is what is not marked to be closed.
///
/// `variables` is NULL for those of this process, `directory` for its directory. Gives 0, or a
/// number of errno.
int tweak_page_spawn(pid_t *pid, const char *path, char *const arguments[], char *const variables[],
                     const char *directory, const int standard[3]);

#endif
