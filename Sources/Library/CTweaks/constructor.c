/* Runs the loader before main. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaks.h"
#include "library.h"

#include <unistd.h>

/*
 * The linker defines these two if the image has the section. They are read from initialised data
 * because code is not reliable: clang addresses a hidden symbol relative to the program counter
 * even if it is undefined and weak, which is never 0. Where there is no section both are the same.
 */
extern const char __start_fbtweak[] __attribute__((weak, visibility("hidden")));
extern const char __stop_fbtweak[] __attribute__((weak, visibility("hidden")));
static const char *const volatile records_start = __start_fbtweak;
static const char *const volatile records_stop = __stop_fbtweak;

/*
 * After clearenv(3) there is no list of variables, and the Swift library, where it is loaded after
 * that, reads it all the same. Before its own constructors there is an empty one.
 */
static char *no_variables[1];
__attribute__((constructor(101))) static void have_environment(void) {
  if (!environ)
    environ = no_variables;
}

char **fbtweak__environment(void) {
  return environ ? environ : no_variables;
}

/* Written in Swift. Hidden, so that each image which has the library has its own. */
__attribute__((visibility("hidden"))) void fbtweak__load(const void *records_start,
                                                         const void *records_stop);

/*
 * No priority: one would put this before the constructor of swiftrt.o, the first object of every
 * link with Swift code, which makes the image's types known to the Swift runtime. C++ constructors
 * of the same image run before or after this one, in the order of the link; those of libraries that
 * use the Tweaks library as a shared one, after it.
 *
 * In a program that has the Swift library inside, its constructors run after this one. None of what
 * runs here needs them, the seeds of hashing above all: see StableHashing.swift.
 */
__attribute__((constructor)) static void load(void) {
  if (!fbtweak__is_first_library())
    return;
  fbtweak__load(records_start, records_stop);
  fbtweak__offer_library();
}
