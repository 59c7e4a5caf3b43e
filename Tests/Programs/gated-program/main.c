/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a loop and a gate, which runs until its tweak End/Values/Text is "end":
 *
 *     gated-program          passes its gate a thousand times a second
 *     gated-program closed   never passes it
 *
 * Ends with 3 if a turn of the loop sees a part of a change.
 */
#include <fbtweak.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments) {
  bool is_closed = count > 1 && strcmp(arguments[1], "closed") == 0;
  while (strcmp(FBTweakValue("End", "Values", "Text", "run"), "end") != 0) {
    if (!is_closed)
      FBTweakGate("Motor");
    int p = FBTweakValue("Motor", "Gains", "P", 1);
    int i = FBTweakValue("Motor", "Gains", "I", 2);
    if (i != p + 1)
      return 3;
    usleep(1000);
  }
  return 0;
}
