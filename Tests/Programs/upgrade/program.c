// SPDX-License-Identifier: BSD-3-Clause
// Prints its tweaks a hundred times a second, with -DGATED also one that 1.0.0-beta.1 does not
// know.
#include <fbtweak.h>
#include <stdio.h>
#include <unistd.h>

static volatile int acts;
static void act(void) {
  acts++;
}
FBTweakAction("Upgrade", "Actions", "Act", act);

// Not declared as a tweak.
volatile int turns = 1;

#ifdef GATED
static double weight = 1.0;
FBTweakVariable(weight, "Upgrade", "Gated", "Weight", 0, 10);
#endif

int main(void) {
  static double bound;
  FBTweakBind(bound, "Upgrade", "Values", "Bound", 0.5, 0, 1);
  for (;;) {
    FBTweakMonitor("Upgrade", "State", "Acts", acts);
    bool flag = FBTweakValue("Upgrade", "Values", "Flag", false);
    int count = FBTweakValue("Upgrade", "Values", "Count", 3, 0, 100);
    double gain = FBTweakValue("Upgrade", "Values", "Gain", 1.5, 0, 10);
    const char *text = FBTweakValue("Upgrade", "Values", "Text", "a", FBTweakChoices("a", "b"));
    fbtweak_color color = FBTweakValue("Upgrade", "Values", "Color", FBTweakRGB(1, 2, 3));
    int level = FBTweakValue("Upgrade", "Fleet", "Level", 1, 0, 100);
    bool search = FBTweakValue("Features", "search", "enabled", true);
    bool browse = FBTweakValue("Features", "browse", "enabled", true);
    printf("flag=%d count=%d gain=%g text=%s red=%d bound=%g acts=%d ", flag, count, gain, text,
           color.red, bound, acts);
    printf("level=%d search=%d browse=%d turns=%d", level, search, browse, turns);
#ifdef GATED
    FBTweakGate("Turn");
    printf(" weight=%g", weight);
#endif
    printf("\n");
    fflush(stdout);
    usleep(10000);
  }
}
