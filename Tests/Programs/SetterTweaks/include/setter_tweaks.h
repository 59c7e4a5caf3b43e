#ifndef SETTER_TWEAKS_H
#define SETTER_TWEAKS_H

#include <stdbool.h>

/* Reads of one tweak of each type, all in the collection Setter/Values. */
bool setter_flag(void);        /* Flag: false */
int setter_count(void);        /* Count: 5, from 0 to 1000000 */
double setter_ratio(void);     /* Ratio: 0.5, from 0 to 1 */
const char *setter_text(void); /* Text: "hello" */

/* A tweak for each process of a test of many: Setter/Slots/Slot 0 to Slot 7, all 0. */
int setter_slot(int slot);

/* Forks a child that reads a tweak and exits as programs do. Its exit status. */
int setter_fork_and_exit(void);

#endif
