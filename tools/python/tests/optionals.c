/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with optional tweaks, made at run time as those of Swift. It runs until it is ended.
 */
#include <fbtweak.h>
#include <unistd.h>

static void make(const char *name, fbtweak_value value) {
  static const char *const optional[] = {"optional", NULL};
  fbtweak_declaration tweak = {.category = "Robot", .collection = "Arm", .name = name};
  tweak.default_value = value;
  tweak.attributes = optional;
  fbtweak_make(&tweak);
}

int main(void) {
  make("Limit", (fbtweak_value){.type = FBTWEAK_TYPE_DOUBLE, .number = 0.5});
  make("Retries", (fbtweak_value){.type = FBTWEAK_TYPE_INT64, .integer = 3});
  make("Quiet", (fbtweak_value){.type = FBTWEAK_TYPE_BOOL});
  make("Host", (fbtweak_value){.type = FBTWEAK_TYPE_STRING, .text = "none"});
  for (;;) {
    FBTweakMonitor("Robot", "Arm", "Speed", 1.5);
    pause();
  }
}
