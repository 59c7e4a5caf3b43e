/* How programs find the library. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Of several images that have the library, an executable and a preloaded libtweaks.so say, only the
 * first one's may load: that is the one which a Swift program reaches as TweakStore.shared.
 */
bool fbtweak__is_first_library(void);

/* Makes the library known to all images that are there, and to be found by those that come. */
void fbtweak__offer_library(void);

#ifdef __cplusplus
}
#endif

#endif /* LIBRARY_H */
