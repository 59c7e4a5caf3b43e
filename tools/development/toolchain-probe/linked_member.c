#include "probe.h"

int probe_linked_member(void) {
  return FBTweakValue("Probe", "Archive", "Linked", 11);
}
