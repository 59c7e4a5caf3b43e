/* SPDX-License-Identifier: BSD-3-Clause */
/* A library initialised before the Tweaks library, so its destructor runs later. Values set there
 * are saved too. */
#include <fbtweak.h>
#include <stdlib.h>

__attribute__((destructor)) static void set_late(void) {
  if (getenv("HOST_SETS_LATE") && FBTweakValue("Host", "Late", "Count", 1, 0, 1000) == 1 &&
      fbtweak_set_integer(fbtweak_find("Host", "Late", "Count"), 42) != FBTWEAK_OK)
    abort();
}
