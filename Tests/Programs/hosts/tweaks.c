/* SPDX-License-Identifier: BSD-3-Clause */
#include <fbtweak.h>

#include "host.h"

/* All hosts share one name for overrides, also python3. */
FBTweakApplication("host");

int host_number(void) {
  return FBTweakValue("Host", "Values", "Number", 1);
}
/* Failure to save is ignored, because some hosts have no place for it. */
bool host_set_number(int number) {
  fbtweak_set_integer(fbtweak_find("Host", "Values", "Number"), number);
  return host_number() == number;
}
void host_flush(void) {
  fbtweak_flush();
}
