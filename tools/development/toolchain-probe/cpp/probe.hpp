/*
 * The C++ program that tools/development/toolchains builds. It has C units too, whose functions
 * probe.h declares.
 */
#ifndef PROBE_HPP
#define PROBE_HPP

#include "../probe.h"

/* Used by two units. An inline function exists once in the program, and so does its tweak. */
inline int probe_inline() {
  return FBTweakValue("Probe", "Inline", "Function", 71);
}
inline int probe_inline_lambda() {
  return [] { return FBTweakValue("Probe", "Inline", "Lambda", 72); }();
}

struct ProbeShape {
  int constructed;

  ProbeShape() : constructed(FBTweakValue("Probe", "Class", "Constructor", 81)) {}
  virtual ~ProbeShape() = default;
  int member() { return FBTweakValue("Probe", "Class", "Member", 82, 0, 100); }
  static int static_member() { return FBTweakValue("Probe", "Class", "Static Member", 83); }
  virtual float virtual_member() { return FBTweakValue("Probe", "Class", "Virtual", 1.5f, 0, 2); }
};
struct ProbeCircle : ProbeShape {
  float virtual_member() override { return FBTweakValue("Probe", "Class", "Override", 2.5f); }
};

/* GCC refuses these. Each instance has a tweak of its own. */
#ifdef __clang__
template <class T> int probe_template(T) {
  return FBTweakValue("Probe", "Template", "Function", 91);
}
template <class T> struct ProbeBox {
  int member() { return FBTweakValue("Probe", "Template", "Member", 92); }
};
#endif

inline int probe_all_inline() {
  ProbeCircle circle;
  ProbeShape shape, &either = circle;
  int sum = probe_inline() + probe_inline_lambda() + either.constructed + either.member() +
            ProbeShape::static_member() + (either.virtual_member() < 2.25f) +
            (shape.virtual_member() > 2.25f);
#ifdef __clang__
  sum += probe_template(1) + ProbeBox<long>().member();
#endif
  return sum;
}

/* elsewhere.cpp */
int probe_all_inline_elsewhere();
int probe_before_header();
int probe_template_elsewhere();

/* forms.cpp, the counterpart of forms.c. */
int probe_lambda_acted();
enum class ProbeScoped : unsigned char;
ProbeScoped probe_binding();

/* values.cpp: one of each type, besides those in probe.h. */
enum class ProbeScoped : unsigned char { second = 2 };
enum ProbePlain { probe_first, probe_second };

signed char probe_int8();
short probe_int16();
long long probe_int64();
unsigned char probe_uint8();
unsigned short probe_uint16();
unsigned probe_uint32();
unsigned long long probe_uint64();
float probe_float();
ProbeScoped probe_scoped();
ProbePlain probe_plain();
double probe_constant();
int probe_lambda();
extern int probe_global;
struct ProbeOutside {
  int member();
};

#endif
