/* SPDX-License-Identifier: BSD-3-Clause */
/* A variable that the program itself counts up, and a tweak behind a gate. */
#include <fbtweak.h>
#include <unistd.h>

static int count = 0;
FBTweakVariable(count, "Stored", "Values", "Count", 0, 1000000);

int main(void) {
  for (;;) {
    count++;
    FBTweakGate("Gated");
    (void)FBTweakValue("Gated", "Values", "Width", 1, 0, 9);
    usleep(20000);
  }
}
