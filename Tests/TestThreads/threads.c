/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives the tests more threads than there are processors: most of them wait for programs that they
 * have started, and each thread runs one test. libdispatch, which Swift's threads come from, asks
 * for the number of processors when it is loaded.
 */
#include "test_threads.h"

#include <dlfcn.h>
#include <unistd.h>

enum { THREADS_PER_PROCESSOR = 2 };

/* The dynamic linker finds this one before that of the C library. Programs that tests start are not
 * concerned. */
long sysconf(int name) {
  static long (*real)(int);
  long (*function)(int) = __atomic_load_n(&real, __ATOMIC_RELAXED);
  if (!function) {
    *(void **)&function = dlsym(RTLD_NEXT, "sysconf");
    __atomic_store_n(&real, function, __ATOMIC_RELAXED);
  }
  long result = function(name);
  return name == _SC_NPROCESSORS_CONF && result > 0 ? result * THREADS_PER_PROCESSOR : result;
}
