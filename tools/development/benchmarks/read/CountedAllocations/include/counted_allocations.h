#ifndef COUNTED_ALLOCATIONS_H
#define COUNTED_ALLOCATIONS_H

/* How often the calling thread has asked for memory. */
unsigned long counted_allocations(void);

#endif /* COUNTED_ALLOCATIONS_H */
