/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libtweaks.so does in a namespace of dlmopen: nothing, see fbtweak__keep_library. But the
 * constructors of libdispatch, which is inside it, give the thread a value of its own. All C
 * libraries of a process keep these values in the same slots and count their keys from 0, so that
 * the value would replace one of the program, whose destructor would then be called with it.
 * tools/install has the linker replace pthread_setspecific by this function (--wrap); elsewhere
 * nothing refers to it.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <link.h>
#include <pthread.h>

#include "ctweaks.h"

__attribute__((weak)) int __real_pthread_setspecific(pthread_key_t key, const void *value);

#ifdef LM_ID_NEWLM
static int look_at_first_image(struct dl_phdr_info *info, size_t size, void *has_name) {
  (void)size;
  *(int *)has_name = info->dlpi_name && info->dlpi_name[0] != '\0';
  return 1;
}

bool fbtweak__is_in_namespace(void) {
  enum { UNKNOWN, NO, YES };
  static int known;
  int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (answer == UNKNOWN) {
    /* Only the executable, which is in the first namespace alone, has no name. */
    int has_name = 0;
    dl_iterate_phdr(look_at_first_image, &has_name);
    answer = has_name ? YES : NO;
    __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
  }
  return answer == YES;
}
#else
/* musl has no dlmopen, but a name for the executable, too. */
bool fbtweak__is_in_namespace(void) {
  return false;
}
#endif

int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value) {
  return fbtweak__is_in_namespace() ? 0 : __real_pthread_setspecific(key, value);
}
