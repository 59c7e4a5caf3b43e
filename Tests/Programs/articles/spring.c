/* SPDX-License-Identifier: BSD-3-Clause */
/* The program whose tweaks several articles change. */
#include <fbtweak.h>
#include <unistd.h>

int main(void) {
  for (double position = 0;; position += 0.001) {
    double stiffness = FBTweakValue("Spring", "Physics", "Stiffness", 120.0, 1, 1000);
    double mass = FBTweakValue("Spring", "Physics", "Mass", 1.0, 0.1, 100);
    FBTweakMonitor("Spring", "State", "Position", position * stiffness / mass);
    usleep(1000);
  }
}
