#include "probe.h"

int probe_touched;

int probe_touch(void) {
  probe_touched += FBTweakValue("Probe", "Side Effect", "Touch", 3);
  return probe_touched;
}
