/*
 * What the program `started` does, whatever language its main function is written in:
 *
 *     started STATE SCENARIO TWEAK
 *
 * It reads all its tweaks and compares them with what the state of its files and its environment
 * makes of them, lives on, does what the scenario says, and compares again. TWEAK is the path of
 * the command `tweak`. The status is 0 if all was right; else 1, and the first lines of standard
 * error say what was wrong. `states` beside this folder has the files of each state, scenarios.c
 * all scenarios.
 */
#ifndef STARTED_H
#define STARTED_H

int started_main(int count, char **arguments);

/*
 * Has the main function look too, in its own language: at the number of a slot and what it should
 * be. Returns whether it is.
 */
void started_look_with(int (*reads_slot)(int slot, int value));

#endif
