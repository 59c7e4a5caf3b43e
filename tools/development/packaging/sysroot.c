// SPDX-License-Identifier: BSD-3-Clause
// What static libraries that were compiled for a newer glibc expect of it, and an older one does
// not have. Compiled with the older one's headers.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

// False: also a process of one thread counts references with atomic instructions.
HIDDEN char __libc_single_threaded;

// Since 2.38 headers give functions that read numbers other names, for the binary numbers of C23.
HIDDEN long __isoc23_strtol(const char *text, char **end, int base) {
  return strtol(text, end, base);
}

HIDDEN unsigned long __isoc23_strtoul(const char *text, char **end, int base) {
  return strtoul(text, end, base);
}

HIDDEN long long __isoc23_strtoll(const char *text, char **end, int base) {
  return strtoll(text, end, base);
}

HIDDEN unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
  return strtoull(text, end, base);
}

HIDDEN int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = vsscanf(text, format, arguments);
  va_end(arguments);
  return count;
}

HIDDEN size_t strlcpy(char *destination, const char *source, size_t size) {
  size_t length = strlen(source);
  if (size > 0) {
    size_t copied = length < size ? length : size - 1;
    memcpy(destination, source, copied);
    destination[copied] = '\0';
  }
  return length;
}
