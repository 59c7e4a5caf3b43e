/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets programs find the library. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * If several images contain the library, such as an executable and a preloaded libtweaks.so, only
 * the first may load: the one that a Swift program reaches as TweakStore.shared.
 */
bool fbtweak__is_first_library(void);

/* Makes the library known to all loaded images, and discoverable for later ones. */
void fbtweak__offer_library(void);

#ifdef __cplusplus
}
#endif

#endif /* LIBRARY_H */
