/*
 * Replaces fbtweak.h when tools/development/toolchains checks whether a toolchain can build the
 * probe at all: constants, and nothing of the header.
 */
#ifndef FBTWEAK_H
#define FBTWEAK_H

#include <stdint.h>

#define PROBE_CONSTANTS
#define FBTweakValue(category_, collection_, name_, ...) (FIRST(__VA_ARGS__, ))
#define FBTweakBind(lvalue_, category_, collection_, name_, ...) (lvalue_) = FIRST(__VA_ARGS__, )
#define FBTweakUnbind(lvalue_) ((void)0)
#define FBTweakInline(category_, collection_, name_, ...) ""
#define FBTweakAction(category_, collection_, name_, ...) struct probe_action
#define FBTweakGate(...) ((void)0)
#define FBTweakTake(set_, copy_) (*(copy_) = (set_), true)
#define FBTweakBinding(lvalue_, category_, collection_, name_, ...)                                \
  ((lvalue_) = FIRST(__VA_ARGS__, ), fbtweak_binding())
#define FIRST(first_, ...) first_

typedef struct fbtweak_color {
  uint8_t red, green, blue, alpha;
} fbtweak_color;
#ifdef __cplusplus
#  define FBTweakRGBA(red_, green_, blue_, alpha_) (fbtweak_color{red_, green_, blue_, alpha_})
#else
#  define FBTweakRGBA(red_, green_, blue_, alpha_) ((fbtweak_color){red_, green_, blue_, alpha_})
#endif
#define FBTweakRGB(red_, green_, blue_) FBTweakRGBA(red_, green_, blue_, 255)

/* Calls something in the end, so that the program needs what the toolchain has for exceptions. */
#ifdef __cplusplus
#  include <stdio.h>

struct fbtweak_binding {
  ~fbtweak_binding() { fflush(stdout); }
};
#endif

#endif
