#include "probe.hpp"

bool probe_bool() {
  return FBTweakValue("Probe", "Types", "Bool", true);
}
signed char probe_int8() {
  return FBTweakValue("Probe", "Types", "Int8", (signed char)-128);
}
short probe_int16() {
  return FBTweakValue("Probe", "Types", "Int16", (short)-300, -400, 400);
}
int probe_int() {
  return FBTweakValue("Probe", "Types", "Int", -42);
}
long long probe_int64() {
  return FBTweakValue("Probe", "Types", "Int64", -5000000000ll);
}
unsigned char probe_uint8() {
  return FBTweakValue("Probe", "Types", "UInt8", (unsigned char)200, 100, 255);
}
unsigned short probe_uint16() {
  return FBTweakValue("Probe", "Types", "UInt16", (unsigned short)65535);
}
unsigned probe_uint32() {
  return FBTweakValue("Probe", "Types", "UInt32", 4000000000u);
}
unsigned long long probe_uint64() {
  return FBTweakValue("Probe", "Types", "UInt64", 9000000000000000000ull);
}
float probe_float() {
  return FBTweakValue("Probe", "Types", "Float", 0.25f);
}
double probe_double() {
  return FBTweakValue("Probe", "Types", "Double", 0.1);
}
double probe_limited_double() {
  return FBTweakValue("Probe", "Types", "Limited Double", 120.0, 1.5, 500);
}
const char *probe_string() {
  return FBTweakValue("Probe", "Types", "String", "grüezi, world");
}
const char *probe_empty_string() {
  return FBTweakValue("Probe", "Types", "Empty String", "");
}
ProbeScoped probe_scoped() {
  return FBTweakValue("Probe", "Types", "Scoped", ProbeScoped::second);
}
ProbePlain probe_plain() {
  return FBTweakValue("Probe", "Types", "Plain", probe_second);
}

static constexpr double constant = 2.5;
double probe_constant() {
  return FBTweakValue("Probe", "Types", "Constant", constant, 0, 10);
}

static int first() {
  return FBTweakValue("Probe", "Static", "First", 1000);
}
namespace {
bool second() {
  return FBTweakValue("Probe", "Static", "Second", false);
}
} // namespace
int probe_static_functions() {
  return first() + second();
}

int probe_lambda() {
  return [] { return FBTweakValue("Probe", "Lambda", "Local", 6); }();
}
int probe_global = [] { return FBTweakValue("Probe", "Lambda", "Global", 8); }();

int ProbeOutside::member() {
  return FBTweakValue("Probe", "Class", "Outside", 84);
}
