/* SPDX-License-Identifier: BSD-3-Clause */
/* The body of a host in the matrix, and the tweak in the program or its plug-in. */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs and exits as the variables in host.c say. Returns the exit status, if it returns. */
int host_run(void);

/* tweaks.c, in the program or in its plug-in: Host/Values/Number. */
int host_number(void);
bool host_set_number(int number);
void host_flush(void);

#ifdef __cplusplus
}
#endif

#endif
