#include "probe.h"

bool probe_bool(void) {
  return FBTweakValue("Probe", "Types", "Bool", true);
}
int probe_int(void) {
  return FBTweakValue("Probe", "Types", "Int", -42);
}
int probe_limited_int(void) {
  return FBTweakValue("Probe", "Types", "Limited Int", 7, -8, 90);
}
double probe_double(void) {
  return FBTweakValue("Probe", "Types", "Double", 0.1);
}
double probe_limited_double(void) {
  return FBTweakValue("Probe", "Types", "Limited Double", 120.0, 1.5, 500);
}
const char *probe_string(void) {
  return FBTweakValue("Probe", "Types", "String", "grüezi, world");
}
const char *probe_empty_string(void) {
  return FBTweakValue("Probe", "Types", "Empty String", "");
}

static int first(void) {
  return FBTweakValue("Probe", "Static", "First", 1000);
}
static bool second(void) {
  return FBTweakValue("Probe", "Static", "Second", false);
}
int probe_static_functions(void) {
  return first() + second();
}

int probe_static_inline_elsewhere(void) {
  return probe_static_inline();
}
