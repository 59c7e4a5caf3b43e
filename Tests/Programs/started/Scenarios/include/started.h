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

#ifdef __cplusplus
extern "C" {
#endif

int started_main(int count, char **arguments);

/*
 * Has the main function take part, in its own language. The first function looks at a slot by its
 * number and returns whether it has a value; the second does what C cannot in the scenario
 * `presets`, with all values afterwards as they were before, and returns whether that was right.
 */
void started_take_part(int (*has_slot)(int slot, int value), int (*uses_presets)(void));

/* For constructors: has `started` call a function first, which returns whether all was right. */
void started_check_first(int (*is_right)(void));

#ifdef __cplusplus
}
#endif

#endif
