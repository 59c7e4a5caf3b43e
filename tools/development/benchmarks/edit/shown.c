// SPDX-License-Identifier: BSD-3-Clause
// Prints the first tweak of a source and the time whenever it has another value.
#include <stdio.h>
#include <time.h>
#include <unistd.h>

double first(void);

int main(void) {
  double last = 0;
  for (;;) {
    double value = first();
    if (value != last) {
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      printf("%g %lld\n", last = value, now.tv_sec * 1000000000LL + now.tv_nsec);
      fflush(stdout);
    }
    usleep(50);
  }
}
