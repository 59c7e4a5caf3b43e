/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores a thousand monitors all the time; the file MONITORS has the statements. */
#include <fbtweak.h>
#include <unistd.h>

int main(void) {
  for (double value = 0;; value += 1) {
    (void)FBTweakValue("Crowd", "Control", "Level", 0.0);
#include MONITORS
    usleep(1000);
  }
}
