/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores its monitors in a loop, and prints the median ns per iteration each second. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void store_monitors(double value);

enum { TURNS = 1000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return (difference > 0) - (difference < 0);
}

int main(void) {
  static double turns[TURNS];
  for (long second = 0;; second++) {
    for (int turn = 0; turn < TURNS; turn++) {
      double start = now();
      for (int value = 0; value < 20; value++)
        store_monitors(second + turn / 1e3 + value / 1e5);
      turns[turn] = (now() - start) / 20;
      usleep(900);
    }
    qsort(turns, TURNS, sizeof(turns[0]), compare);
    printf("%.1f\n", turns[TURNS / 2]);
    fflush(stdout);
  }
}
