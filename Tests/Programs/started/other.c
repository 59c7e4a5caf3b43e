/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with tweaks of its own, one of which the program has too. */
#include <fbtweak.h>

int started_other_value(int which);

int started_other_value(int which) {
  return which == 4 ? FBTweakValue("Start", "Slots", "Slot 4", 4, 0, 1000000)
                    : FBTweakValue("Start", "Other", "Number", 40);
}
