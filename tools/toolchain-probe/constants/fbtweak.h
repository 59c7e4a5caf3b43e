/*
 * What stands in for fbtweak.h when tools/toolchains asks whether a toolchain can build the probe
 * at all: constants, and nothing of the header.
 */
#ifndef FBTWEAK_H
#define FBTWEAK_H

#define FBTweakValue(category_, collection_, name_, ...) (FIRST(__VA_ARGS__, ))
#define FIRST(first_, ...) first_

#endif
