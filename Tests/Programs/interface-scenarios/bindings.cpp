// SPDX-License-Identifier: BSD-3-Clause
#include <utility>
#include <vector>

#include "scenarios.h"

struct Voice {
  float gain;
  fbtweak_binding binding;
  explicit Voice() : binding(FBTweakBinding(gain, "Voices", "Each", "Gain", 0.5, 0, 1)) {}
};

/* Each object follows the tweak during its lifetime. */
extern "C" void bind_owners(void) {
  {
    Voice first;
    {
      Voice second;
      const fbtweak *gain = fbtweak_find("Voices", "Each", "Gain");
      EXPECT(first.gain == 0.5f && second.gain == 0.5f);
      EXPECT(fbtweak_set_number(gain, 0.75) == FBTWEAK_OK);
      EXPECT(first.gain == 0.75f && second.gain == 0.75f);
      first.binding.reset();
      EXPECT(fbtweak_set_number(gain, 1) == FBTWEAK_OK);
      EXPECT(first.gain == 0.75f && second.gain == 1);
      fbtweak_binding taken = std::move(second.binding);
      second.binding.reset();
      EXPECT(fbtweak_set_number(gain, 0) == FBTWEAK_OK && second.gain == 0);
    }
  }
  std::vector<fbtweak_binding> bindings;
  static int values[100];
  for (int &value : values)
    bindings.push_back(FBTweakBinding(value, "Voices", "Each", "Count", 8));
  const fbtweak *count = fbtweak_find("Voices", "Each", "Count");
  EXPECT(fbtweak_set_integer(count, 9) == FBTWEAK_OK);
  for (int value : values)
    EXPECT(value == 9);
  bindings.clear();
  EXPECT(fbtweak_reset(count) == FBTWEAK_OK);
  for (int value : values)
    EXPECT(value == 9);
}
