/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the loader before main. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaks.h"
#include "library.h"

#include <unistd.h>

/*
 * The linker defines these if the image has the section. They are read from initialised data
 * because code is not reliable: clang addresses a hidden symbol relative to the program counter
 * even if it is undefined and weak, which never yields 0. Without the section both are equal.
 */
extern const char __start_fbtweak[] __attribute__((weak, visibility("hidden")));
extern const char __stop_fbtweak[] __attribute__((weak, visibility("hidden")));
static const char *const volatile records_start = __start_fbtweak;
static const char *const volatile records_stop = __stop_fbtweak;

/*
 * After clearenv(3) environ is NULL, but the Swift library, if loaded after that, reads it anyway.
 * So it is set to an empty list before Swift's constructors run.
 */
static char *no_variables[1];
__attribute__((constructor(101))) static void have_environment(void) {
  if (!environ)
    environ = no_variables;
}

char **fbtweak__environment(void) {
  return environ ? environ : no_variables;
}

/* Written in Swift. Hidden, so that each image that contains the library has its own. */
__attribute__((visibility("hidden"))) void fbtweak__load(const void *records_start,
                                                         const void *records_stop);

/*
 * No priority: one would put this before the constructor of swiftrt.o, the first object of every
 * link with Swift code, which registers the image's types with the Swift runtime. C++ constructors
 * of the same image run before or after this one, in link order; those of libraries that use the
 * Tweaks library as a shared one run after it.
 *
 * If the Swift library is inside the program, its constructors run after this one. Nothing that
 * runs here may need them, above all not the seeds of hashing: see StableHashing.swift.
 */
__attribute__((constructor)) static void load(void) {
  if (!fbtweak__keep_library() || !fbtweak__is_first_library())
    return;
  fbtweak__load(records_start, records_stop);
  fbtweak__offer_library();
}
