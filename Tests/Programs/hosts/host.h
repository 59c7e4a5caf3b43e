/* A host of the matrix: what every kind of program does, and the tweak that it or its plug-in has.
 */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lives and ends as the variables say, see host.c. Returns the exit status if it ends by return. */
int host_run(void);

/* tweaks.c, in the program or in its plug-in: Host/Values/Number. */
int host_number(void);
bool host_set_number(int number);
void host_flush(void);

#ifdef __cplusplus
}
#endif

#endif
