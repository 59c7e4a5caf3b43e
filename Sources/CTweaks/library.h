/* How programs find the library. */
#ifndef LIBRARY_H
#define LIBRARY_H

/* Makes the library known to all images that are there, and to be found by those that come. */
void fbtweak__offer_library(void);

#endif /* LIBRARY_H */
