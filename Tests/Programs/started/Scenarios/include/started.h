/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body of the program `started`, whose main function may be in any language:
 *
 *     started STATE SCENARIO TWEAK
 *
 * It compares all its tweaks with the values expected for STATE, runs the scenario, and compares
 * again. TWEAK is the path of the command `tweak`. The status is 0 on success; otherwise it is 1,
 * and standard error begins with the failures. The folder `states` has the files of each state,
 * scenarios.c has the scenarios.
 */
#ifndef STARTED_H
#define STARTED_H

#ifdef __cplusplus
extern "C" {
#endif

int started_main(int count, char **arguments);

/*
 * Adds checks in the language of the main function. The first function returns whether the slot
 * with a number has a value. The second tests presets, restores all values, and returns whether the
 * test succeeded.
 */
void started_take_part(int (*has_slot)(int slot, int value), int (*uses_presets)(void));

/* For constructors: makes `started` first call a function that returns whether it succeeded. */
void started_check_first(int (*is_right)(void));

#ifdef __cplusplus
}
#endif

#endif
