/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that passes its gate when it reads a byte, and answers with one.
 */
#include <fbtweak.h>
#include <unistd.h>

int main(void) {
  for (char byte = 0;;) {
    (void)FBTweakValue("Model", "Numbers", "Count", 5, 0, 100);
    (void)FBTweakValue("Model", "Numbers", "Ratio", 0.5, 0.0, 1.0);
    (void)FBTweakValue("Model", "Other", "Count", (int64_t)0, -1000, 1000);
    (void)FBTweakValue("Model", "Other", "Flag", false);
    (void)FBTweakValue("Model", "Other", "Text", "hello");
    (void)FBTweakValue("Model", "Other", "Fixed", 7, FBTweakReadOnly);
    FBTweakGate("Gated");
    (void)FBTweakValue("Gated", "Gains", "P", 1.0, -8.0, 8.0);
    (void)FBTweakValue("Gated", "Gains", "I", 2, -100, 100);
    if (write(STDOUT_FILENO, &byte, 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1)
      return 0;
  }
}
