/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios.h"

int level(void) {
  return FBTweakValue("Sound", "Mixer", "Level", 5, 0, 10);
}
double gain(void) {
  return FBTweakValue("Sound", "Mixer", "Gain", 0.5, 0, 1);
}
bool muted(void) {
  return FBTweakValue("Sound", "Mixer", "Muted", false);
}
const char *bus(void) {
  return FBTweakValue("Sound", "Output", "Bus", "main");
}
unsigned char octet(void) {
  return FBTweakValue("Types", "Unsigned", "Octet", (unsigned char)200);
}
long long wide(void) {
  return FBTweakValue("Types", "Signed", "Wide", -5000000000ll);
}
float ratio(void) {
  return FBTweakValue("Types", "Reals", "Ratio", 0.1f);
}
