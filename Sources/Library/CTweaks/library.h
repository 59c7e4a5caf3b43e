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

/*
 * Keeps the image of the library loaded: its threads, exit handlers and thread-specific values,
 * also those of the Swift runtime in it, cannot be taken back. Other images that came with it, such
 * as the plug-in that needs it, can still be unloaded.
 *
 * Returns false if the library must not start. In a namespace of dlmopen, another library in the
 * same process would take its socket, both C libraries would use the same slots for thread-specific
 * values, and an image that stays would use up one of the sixteen namespaces. So it does nothing
 * there, and can be unloaded.
 */
bool fbtweak__keep_library(void);

/* Makes the library known to all loaded images, and discoverable for later ones. */
void fbtweak__offer_library(void);

#ifdef __cplusplus
}
#endif

#endif /* LIBRARY_H */
