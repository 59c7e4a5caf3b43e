/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with optional tweaks, made at run time as those of Swift. It runs until it is ended. An
 * argument is the default of the text, which otherwise has none.
 */
#include <fbtweak.h>
#include <stdio.h>
#include <unistd.h>

static void make(const char *name, fbtweak_value value) {
  static const char *const optional[] = {"optional", NULL};
  fbtweak_declaration tweak = {.category = "Robot", .collection = "Arm", .name = name};
  tweak.default_value = value;
  tweak.attributes = optional;
  fbtweak_make(&tweak);
}

int main(int argc, char **argv) {
  make("Limit", (fbtweak_value){.type = FBTWEAK_TYPE_DOUBLE, .number = 0.5});
  make("Retries", (fbtweak_value){.type = FBTWEAK_TYPE_INT64, .integer = 3});
  make("Quiet", (fbtweak_value){.type = FBTWEAK_TYPE_BOOL});
  make("Host", (fbtweak_value){.type = FBTWEAK_TYPE_STRING, .text = argc > 1 ? argv[1] : "none"});
  puts("runs");
  fflush(stdout);
  for (;;) {
    FBTweakMonitor("Robot", "Arm", "Speed", 1.5);
    pause();
  }
}
