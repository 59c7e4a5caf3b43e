#include "probe.h"

/*
 * --gc-sections removes the function, but must keep the tweak. It is alone in its unit because the
 * tweaks of a unit share a section, which stays if any of them is referenced.
 */
int probe_unused(void);
int probe_unused(void) {
  return FBTweakValue("Probe", "Unused", "Function", 5);
}
