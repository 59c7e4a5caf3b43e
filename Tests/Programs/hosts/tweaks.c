#include <fbtweak.h>

#include "host.h"

/* Overrides are kept under one name, also those of python3. */
FBTweakApplication("host");

int host_number(void) {
  return FBTweakValue("Host", "Values", "Number", 1);
}
/* Whether it was kept is not asked: some hosts have nowhere to keep it. */
bool host_set_number(int number) {
  fbtweak_set_integer(fbtweak_find("Host", "Values", "Number"), number);
  return host_number() == number;
}
void host_flush(void) {
  fbtweak_flush();
}
