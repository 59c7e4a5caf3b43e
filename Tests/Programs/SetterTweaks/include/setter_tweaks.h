/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SETTER_TWEAKS_H
#define SETTER_TWEAKS_H

#include <fbtweak.h>
#include <stdbool.h>

/* Read one tweak of each type in the collection Setter/Values. */
bool setter_flag(void);        /* Flag: false */
int setter_count(void);        /* Count: 5, from 0 to 1000000 */
double setter_ratio(void);     /* Ratio: 0.5, from 0 to 1 */
const char *setter_text(void); /* Text: "hello" */

/* A tweak for each of several processes: Setter/Slots/Slot 0 to Slot 7, all 0. */
int setter_slot(int slot);

/* Forks a child that reads a tweak and exits. Returns its exit status. */
int setter_fork_and_exit(void);
/* The tweak Setter/Slots/Slot 0 through the interface of fbtweak.h. */
bool setter_set_slot(int value);
int setter_read_slot(void);
/* The value of the integer tweak with this name, -1 if there is none. */
int setter_find(const char *category, const char *collection, const char *name);
/* The handle of Setter/Values/Ratio. */
const fbtweak *setter_ratio_tweak(void);
/* The value read through a handle from Swift. */
double setter_read(const fbtweak *tweak);
/*
 * Makes the actions of the collection Setter/Actions: "Count up" adds 1 to Count, "Wait" takes four
 * seconds, "End" ends the program with status 3.
 */
void setter_make_actions(void);

#endif
