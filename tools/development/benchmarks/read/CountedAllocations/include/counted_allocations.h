/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTED_ALLOCATIONS_H
#define COUNTED_ALLOCATIONS_H

/* The number of allocations by the calling thread. */
unsigned long counted_allocations(void);

#endif /* COUNTED_ALLOCATIONS_H */
