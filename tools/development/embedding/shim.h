/* SPDX-License-Identifier: BSD-3-Clause */
#include <SwiftGlibc.h>

/* Embedded Swift imports no function with variable arguments. */
static inline int fcntl_with_number(int descriptor, int command, int number) {
  return fcntl(descriptor, command, number);
}
