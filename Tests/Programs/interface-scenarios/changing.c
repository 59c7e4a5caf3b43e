/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios.h"

void set_and_reset(void) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  EXPECT(fbtweak_set_integer(tweak, 7) == FBTWEAK_OK);
  EXPECT(level() == 7 && fbtweak_read_integer(tweak, -1) == 7);
  EXPECT_TEXT(fbtweak_source(tweak), "override");
  EXPECT(fbtweak_set_integer(tweak, 11) == FBTWEAK_CLAMPED && level() == 10);
  EXPECT(fbtweak_set_text(tweak, "0x3") == FBTWEAK_OK && level() == 3);
  EXPECT(fbtweak_reset(tweak) == FBTWEAK_OK && level() == 5);
  EXPECT_TEXT(fbtweak_source(tweak), "default");

  EXPECT(fbtweak_set_number(fbtweak_find("Sound", "Mixer", "Gain"), 0.25) == FBTWEAK_OK);
  EXPECT(fbtweak_set_bool(fbtweak_find("Sound", "Mixer", "Muted"), true) == FBTWEAK_OK);
  EXPECT(fbtweak_set_text(fbtweak_find("Sound", "Output", "Bus"), "side") == FBTWEAK_OK);
  EXPECT(fbtweak_set_integer(fbtweak_find("Types", "Signed", "Wide"), 1) == FBTWEAK_OK);
  fbtweak_value natural = {FBTWEAK_TYPE_UINT64, {.natural = 9}};
  EXPECT(fbtweak_set(fbtweak_find("Types", "Unsigned", "Octet"), natural) == FBTWEAK_OK);
  EXPECT(gain() == 0.25 && muted() && wide() == 1 && octet() == 9);
  EXPECT_TEXT(bus(), "side");

  EXPECT(fbtweak_reset_collection("Sound", "Mixer") == FBTWEAK_OK);
  EXPECT(gain() == 0.5 && !muted() && strcmp(bus(), "side") == 0);
  EXPECT(fbtweak_reset_category("Sound") == FBTWEAK_OK);
  EXPECT(strcmp(bus(), "main") == 0 && wide() == 1);
  EXPECT(fbtweak_reset_all() == FBTWEAK_OK);
  EXPECT(wide() == -5000000000ll && octet() == 200);
}

void refuse(void) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  EXPECT(fbtweak_set_number(tweak, 1.5) == FBTWEAK_REFUSED);
  EXPECT_ERROR("Sound/Mixer/Level: 1.5 is not an int32; allowed: an integer from 0 to 10");
  EXPECT(fbtweak_set_bool(tweak, true) == FBTWEAK_REFUSED);
  EXPECT(fbtweak_set_text(tweak, "loud") == FBTWEAK_REFUSED);
  EXPECT(fbtweak_set_text(tweak, NULL) == FBTWEAK_REFUSED);
  fbtweak_value nothing = {0};
  EXPECT(fbtweak_set(tweak, nothing) == FBTWEAK_REFUSED);
  EXPECT(fbtweak_set_number(fbtweak_find("Sound", "Mixer", "Gain"), 0.0 / 0.0) == FBTWEAK_REFUSED);
  EXPECT(fbtweak_run(tweak) == FBTWEAK_REFUSED);
  EXPECT_ERROR("it is not an action");
  EXPECT(fbtweak_remove(tweak) == FBTWEAK_UNKNOWN);

  EXPECT(fbtweak_set_integer(NULL, 1) == FBTWEAK_UNKNOWN);
  EXPECT(fbtweak_reset(NULL) == FBTWEAK_UNKNOWN);
  EXPECT(fbtweak_bind(NULL, &nothing) == FBTWEAK_UNKNOWN);
  EXPECT(fbtweak_bind(tweak, NULL) == FBTWEAK_REFUSED);
  EXPECT(fbtweak_reset_category("Sounds") == FBTWEAK_UNKNOWN);
  EXPECT_ERROR("Sounds: no such tweaks");
  EXPECT(fbtweak_observe(tweak, NULL, NULL, NULL) == 0);
  fbtweak_unbind(NULL);
  fbtweak_unobserve(0);
  fbtweak_unobserve(12345);
  EXPECT(level() == 5);
}

void bind_variables(void) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  int first = -1, second = -1;
  EXPECT(fbtweak_bind(tweak, &first) == FBTWEAK_OK && first == 5);
  EXPECT(fbtweak_bind(tweak, &second) == FBTWEAK_OK);
  fbtweak_set_integer(tweak, 8);
  EXPECT(first == 8 && second == 8);
  fbtweak_unbind(&second);
  fbtweak_set_integer(tweak, 9);
  EXPECT(first == 9 && second == 8);

  /* A variable follows the tweak that it was last bound to. */
  const fbtweak *other = fbtweak_find("Types", "Signed", "Wide");
  long long moved = 0;
  EXPECT(fbtweak_bind(other, &moved) == FBTWEAK_OK && moved == -5000000000ll);
  union {
    int level;
    long long wide;
  } either;
  EXPECT(fbtweak_bind(tweak, &either) == FBTWEAK_OK && either.level == 9);
  EXPECT(fbtweak_bind(other, &either) == FBTWEAK_OK && either.wide == -5000000000ll);
  fbtweak_set_integer(tweak, 1);
  EXPECT(either.wide == -5000000000ll);

  const char *text = NULL;
  EXPECT(fbtweak_bind(fbtweak_find("Sound", "Output", "Bus"), &text) == FBTWEAK_OK);
  EXPECT_TEXT(text, "main");
  fbtweak_set_text(fbtweak_find("Sound", "Output", "Bus"), "side");
  EXPECT_TEXT(text, "side");
  fbtweak_reset_all();
  EXPECT_TEXT(text, "main");
  EXPECT(first == 5);
}
