/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios.h"

void find_and_read(void) {
  const fbtweak *found = fbtweak_find("Sound", "Mixer", "Level");
  EXPECT(found && found == fbtweak_find("Sound", "Mixer", "Level"));
  EXPECT(fbtweak_read_integer(found, -1) == 5);
  EXPECT(fbtweak_read_number(found, -1) == 5);
  EXPECT(fbtweak_read_bool(found, true) && !fbtweak_read_bool(found, false));
  EXPECT_TEXT(fbtweak_read_text(found, "no text"), "no text");

  EXPECT(fbtweak_read_number(fbtweak_find("Sound", "Mixer", "Gain"), -1) == 0.5);
  EXPECT(fbtweak_read_bool(fbtweak_find("Sound", "Mixer", "Muted"), true) == false);
  EXPECT_TEXT(fbtweak_read_text(fbtweak_find("Sound", "Output", "Bus"), ""), "main");
  EXPECT(fbtweak_read_integer(fbtweak_find("Types", "Unsigned", "Octet"), -1) == 200);
  EXPECT(fbtweak_read_integer(fbtweak_find("Types", "Signed", "Wide"), -1) == -5000000000ll);
  EXPECT(fbtweak_read_number(fbtweak_find("Types", "Reals", "Ratio"), -1) == 0.1f);

  EXPECT(!fbtweak_find("Sound", "Mixer", "Levle"));
  EXPECT_ERROR("Sound/Mixer/Levle: no such tweak; did you mean Sound/Mixer/Level?");
  EXPECT(!fbtweak_find("a\x1b[2J\nb", "c", "d\xff"));
  EXPECT_ERROR("a\\u{1b}[2J\\u{a}b/c/d\\u{fffd}: no such tweak");
  EXPECT(!fbtweak_find("Sound", NULL, "Level"));
  fbtweak_value value;
  EXPECT(!fbtweak_read(NULL, &value) && fbtweak_read_integer(NULL, 7) == 7);
  EXPECT(!fbtweak_source(NULL));
  EXPECT_TEXT(fbtweak_source(found), "default");
}

void describe(void) {
  const fbtweak *level = fbtweak_find("Sound", "Mixer", "Level");
  EXPECT(fbtweak_type(level) == FBTWEAK_TYPE_INT32);
  EXPECT_TEXT(fbtweak_category(level), "Sound");
  EXPECT_TEXT(fbtweak_collection(level), "Mixer");
  EXPECT_TEXT(fbtweak_name(level), "Level");
  fbtweak_value value;
  EXPECT(fbtweak_default(level, &value) && value.integer == 5);
  EXPECT(fbtweak_minimum(level, &value) && value.integer == 0);
  EXPECT(fbtweak_maximum(level, &value) && value.integer == 10);
  EXPECT(!fbtweak_step(level, &value));
  EXPECT(!fbtweak_choice(level, 0, &value, NULL));
  EXPECT(strstr(fbtweak_attribute(level, "at"), "tweaks.c:5"));
  EXPECT(!fbtweak_attribute(level, "unit"));

  const fbtweak *bus = fbtweak_find("Sound", "Output", "Bus");
  EXPECT(fbtweak_set_text(bus, "side") == FBTWEAK_OK);
  EXPECT(fbtweak_default(bus, &value) && strcmp(value.text, "main") == 0);
  EXPECT(!fbtweak_minimum(bus, &value));
  EXPECT(fbtweak_type(NULL) == FBTWEAK_TYPE_NONE && !fbtweak_name(NULL));
}

static bool append(const fbtweak *tweak, void *context) {
  strcat(strcat(context, fbtweak_name(tweak)), " ");
  return strcmp(fbtweak_name(tweak), "Gain") != 0;
}
static bool print(const fbtweak *tweak, void *context) {
  strcat(strcat(strcat(strcat(context, fbtweak_category(tweak)), "/"), fbtweak_collection(tweak)),
         " ");
  return true;
}

void walk(void) {
  char names[2000] = "";
  EXPECT(fbtweak_walk(NULL, NULL, print, names) > 7);
  EXPECT(strncmp(names, "Macros/Actions Macros/Actions Macros/Values ", 44) == 0);
  EXPECT(strstr(names, " Sound/Mixer Sound/Mixer Sound/Mixer Sound/Output Types/Reals Types/Signed "
                       "Types/Unsigned Voices/Each "));
  names[0] = 0;
  EXPECT(fbtweak_walk("Types", NULL, append, names) == 3);
  EXPECT_TEXT(names, "Ratio Wide Octet ");
  names[0] = 0;
  EXPECT(fbtweak_walk("Sound", "Mixer", append, names) <= 3);
  EXPECT(strstr(names, "Gain ") == names + strlen(names) - strlen("Gain "));
  EXPECT(fbtweak_walk("Sound", "Nothing", append, names) == 0);
}
