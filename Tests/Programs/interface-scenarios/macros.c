/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios.h"

static int resets, clears;
static void count_reset(void) {
  resets++;
}
static void count_clear(void) {
  clears++;
}
FBTweakAction("Macros", "Actions", "Reset", count_reset, FBTweakDescription("counts"));

/* Uses declarations of the macros as a client does. */
void use_macros(void) {
  FBTweakAction("Macros", "Actions", "Clear", count_clear);
  FBTweakAction("Macros", "Actions", "Clear", count_reset);
  EXPECT(fbtweak_run(fbtweak_find("Macros", "Actions", "Reset")) == FBTWEAK_OK && resets == 1);
  EXPECT(fbtweak_run(fbtweak_find("Macros", "Actions", "Clear")) == FBTWEAK_OK);
  EXPECT(clears == 1 && resets == 2);
  EXPECT_TEXT(fbtweak_attribute(fbtweak_find("Macros", "Actions", "Reset"), "doc"), "counts");

  const fbtweak *handle = FBTweakInline("Macros", "Values", "Handle", 7, 0, 10, FBTweakStep(2));
  EXPECT(handle == fbtweak_find("Macros", "Values", "Handle"));
  EXPECT(fbtweak_set_integer(handle, 50) == FBTWEAK_CLAMPED);
  EXPECT(fbtweak_read_integer(handle, -1) == 10);

  uint8_t octet = 0;
  const char *text = NULL;
  fbtweak_color color = {0, 0, 0, 0};
  FBTweakBind(octet, "Macros", "Values", "Octet", 200);
  FBTweakBind(text, "Macros", "Values", "Text", "a", FBTweakChoices("a", ("b", "Bee")));
  FBTweakBind(color, "Macros", "Values", "Colour", FBTweakRGB(1, 2, 3));
  EXPECT(octet == 200 && strcmp(text, "a") == 0 && color.blue == 3 && color.alpha == 255);
  EXPECT(fbtweak_set_integer(fbtweak_find("Macros", "Values", "Octet"), 300) == FBTWEAK_CLAMPED);
  EXPECT(octet == 255);
  const fbtweak *choice = fbtweak_find("Macros", "Values", "Text");
  EXPECT(fbtweak_set_text(choice, "c") == FBTWEAK_REFUSED);
  EXPECT_ERROR("\"a\"");
  EXPECT(fbtweak_set_text(choice, "Bee") == FBTWEAK_OK && strcmp(text, "b") == 0);
  fbtweak_color green = FBTweakRGBA(0, 255, 0, 128);
  EXPECT(fbtweak_set_color(fbtweak_find("Macros", "Values", "Colour"), green) == FBTWEAK_OK);
  EXPECT(color.green == 255 && color.alpha == 128);
  EXPECT(fbtweak_set_text(fbtweak_find("Macros", "Values", "Colour"), "#f00") == FBTWEAK_OK);
  EXPECT(color.red == 255 && color.green == 0 && color.alpha == 255);
  FBTweakUnbind(octet);
  FBTweakUnbind(text);
  FBTweakUnbind(color);
  fbtweak_reset_category("Macros");
  EXPECT(octet == 255 && strcmp(text, "b") == 0 && color.red == 255);

  int rate = FBTweakValue("Macros", "Values", "Rate", 48000, FBTweakChoices(44100, 48000),
                          FBTweakNeedsRestart);
  const fbtweak *rate_tweak = fbtweak_find("Macros", "Values", "Rate");
  EXPECT(rate == 48000 && fbtweak_set_integer(rate_tweak, 44100) == FBTWEAK_OK);
  EXPECT(fbtweak_read_integer(rate_tweak, 0) == 48000);
  int version = FBTweakValue("Macros", "Values", "Version", 3, FBTweakReadOnly);
  EXPECT(version == 3);
  EXPECT(fbtweak_set_integer(fbtweak_find("Macros", "Values", "Version"), 4) == FBTWEAK_REFUSED);
}
