/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the spring of the example: swings it for four seconds with the current values, again and
 * again.
 *
 *     gcc trial.c spring_physics.c
 */
#include "spring_physics.h"

#include <fbtweak.h>
#include <math.h>
#include <unistd.h>

/* The integral of the deviation, weighted by time, which is small if the spring rests soon. */
static double badness(void) {
  struct spring spring = {.position = 1, .velocity = 0};
  double sum = 0;
  for (double time = 0; time < 4; time += 0.004) {
    spring_advance(&spring, 0.004);
    sum += time * fabs(spring.position) * 0.004;
  }
  return sum;
}

int main(void) {
  for (long count = 1;; count++) {
    double result = badness();
    FBTweakMonitor("Spring", "Trial", "Badness", result);
    FBTweakMonitor("Spring", "Trial", "Count", count);
    usleep(100);
  }
}
