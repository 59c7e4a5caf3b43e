#include "probe.h"

int probe_unlinked_member(void);
int probe_unlinked_member(void) {
  return FBTweakValue("Probe", "Archive", "Not Linked", 12);
}
