#include <fbtweak.h>

/* GCC numbers the tweaks of a unit: after this one, those of the header have other numbers. */
static int before_header() {
  return FBTweakValue("Probe", "Static", "Before Header", 15);
}

#include "probe.hpp"

int probe_before_header() {
  return before_header();
}
int probe_static_inline_elsewhere() {
  return probe_static_inline();
}
int probe_all_inline_elsewhere() {
  return probe_all_inline();
}
#ifdef __clang__
int probe_template_elsewhere() {
  return probe_template('c');
}
#endif
