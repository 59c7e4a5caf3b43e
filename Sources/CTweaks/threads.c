/* Swift does not see what Glibc has only for _GNU_SOURCE. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaks.h"

#include <pthread.h>

void fbtweak__name_thread(void) {
  pthread_setname_np(pthread_self(), "tweaks");
}
