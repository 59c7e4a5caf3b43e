/* SPDX-License-Identifier: BSD-3-Clause */
/* A control loop of 1 kHz with a gate. Shows each new value that it sees, and the time in ns of the
 * monotonic clock. */
#include <fbtweak.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

int main(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  for (int last = 1;;) {
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) {
      time.tv_nsec -= 1000000000;
      time.tv_sec += 1;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    FBTweakGate("Motor");
    int gain = FBTweakValue("Motor", "Loop", "Gain", 1);
    if (gain != last) {
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      printf("%d %" PRId64 "\n", last = gain, now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
      fflush(stdout);
    }
    (void)FBTweakValue("Trial", "Values", "Level", 1);
  }
}
