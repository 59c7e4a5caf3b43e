#include "probe.h"

/*
 * --gc-sections removes the function and has to leave the tweak. It is alone in its unit because
 * the tweaks of a unit share a section, which stays when any of them is referred to.
 */
int probe_unused(void);
int probe_unused(void) {
  return FBTweakValue("Probe", "Unused", "Function", 5);
}
