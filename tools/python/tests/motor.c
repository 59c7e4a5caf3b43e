/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated motor with tweaks of all types, for the tests and the article.
 *
 *     motor [SECONDS]   runs so long, by default until it is ended
 */
#include <fbtweak.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile int stops = 0;

static void stop(void) {
  stops = 1;
}

static void wait_while_held(void) {
  while (FBTweakValue("Motor", "Other", "Held", false))
    usleep(1000);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Values that only tests read. */
static void use_others(void) {
  FBTweakMonitor("Motor", "Copies", "Byte now",
                 FBTweakValue("Motor", "Types", "Byte", (uint8_t)200));
  FBTweakMonitor(
      "Motor", "Copies", "Short now",
      FBTweakValue("Motor", "Types", "Short", (int16_t)-300, -1000, 1000, FBTweakPair("Count")));
  FBTweakMonitor("Motor", "Copies", "Count now",
                 FBTweakValue("Motor", "Types", "Count", 5, 0, 100));
  FBTweakMonitor("Motor", "Copies", "Serial now",
                 FBTweakValue("Motor", "Types", "Serial", (uint64_t)9007199254740993u));
  FBTweakMonitor("Motor", "Copies", "Float now", FBTweakValue("Motor", "Types", "Float", 0.1f));
  FBTweakMonitor("Motor", "Copies", "Flag now", FBTweakValue("Motor", "Types", "Flag", true));
  (void)FBTweakValue("Motor", "Types", "Lamp", FBTweakRGB(0x33, 0x66, 0xcc));
  (void)FBTweakValue("Motor", "Types", "Label", "left");
  (void)FBTweakValue("Motor", "Types", "Kept", 1, 0, 9, FBTweakNeedsRestart);
  (void)FBTweakValue("Motor", "Types", "Fixed", 7, FBTweakReadOnly, FBTweakOwner("motors"),
                     FBTweakExpires("2099-12-31"));
  (void)FBTweakValue("Motor", "Odd/names", "100% = all", 1.5, 0, 10);
}

int main(int count, char **arguments) {
  double start = seconds(), end = count > 1 ? start + atof(arguments[1]) : INFINITY;
  double position = 0, speed = 0;
  FBTweakAction("Motor", "Control", "Stop", stop);
  FBTweakAction("Motor", "Control", "Wait", wait_while_held);
  printf("started\n");
  fflush(stdout);
  for (double last = start; !stops && last < end;) {
    double now = seconds(), step = now - last;
    last = now;
    double target = FBTweakValue("Motor", "Control", "Target", 100.0, 0, 1000, FBTweakUnit("rpm"));
    double gain = FBTweakValue("Motor", "Control", "Gain", 2.5, 0, 50, FBTweakUnit("1/s"));
    double damping =
        FBTweakValue("Motor", "Control", "Damping", 0.1, 0.001, 1, FBTweakScale("log"));
    int mode = FBTweakValue("Motor", "Control", "Mode", 1,
                            FBTweakChoices((0, "off"), (1, "slow"), (2, "fast")));
    if (FBTweakValue("Motor", "Control", "Enabled", true))
      speed += (gain * mode * (target - speed) - damping * speed) * step;
    position += speed * step;
    FBTweakMonitor("Motor", "State", "Speed", speed, 0, 8000, FBTweakUnit("rpm"));
    FBTweakMonitor("Motor", "State", "Error", fabs(target - speed));
    FBTweakMonitor("Motor", "State", "Turns", (int32_t)position);
    FBTweakMonitor("Motor", "State", "Mode", mode);
    use_others();
    usleep(500);
  }
  /* So that the action is answered. */
  usleep(100000);
  return 0;
}
