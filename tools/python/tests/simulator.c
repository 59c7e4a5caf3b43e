/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulates a motor with its controller, and waits before each turn until there are more Turns than
 * it has made.
 */
#include <fbtweak.h>
#include <math.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_bool starts_again = false;

static void start_again(void) {
  atomic_store(&starts_again, true);
}

int main(void) {
  FBTweakAction("Simulator", "Clock", "Restart", start_again);
  double speed = 0, sum = 0, cost = 0;
  uint32_t noise = 1;
  bool is_waiting = true;
  for (int64_t done = 0;;) {
    FBTweakGate("Simulator", "Control");
    /* Between the gate and the look at the turns, so that values and turns arrive there. */
    if (is_waiting)
      usleep(500);
    is_waiting = done >= FBTweakValue("Simulator", "Clock", "Turns", (int64_t)0);
    if (is_waiting)
      continue;
    if (atomic_exchange(&starts_again, false))
      speed = sum = cost = 0, noise = 1;
    double gain = FBTweakValue("Simulator", "Control", "Gain", 1.0, 0, 100);
    double integral = FBTweakValue("Simulator", "Control", "Integral", 0.5, 0, 100);
    noise = noise * 1664525 + 1013904223;
    double error = 100 - speed - (double)(noise >> 16) / 6553.6;
    sum += error * 0.01;
    speed += (gain * error + integral * sum - speed) * 0.01;
    cost += fabs(error) * 0.01;
    FBTweakMonitor("Simulator", "State", "Speed", speed);
    FBTweakMonitor("Simulator", "State", "Cost", cost);
    FBTweakMonitor("Simulator", "Clock", "Done", ++done);
  }
}
