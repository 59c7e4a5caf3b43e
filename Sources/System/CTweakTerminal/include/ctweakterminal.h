/*
 * ctweakterminal.h: the terminal while a command draws on it. Not for programs: it may change with
 * every version.
 */
#ifndef CTWEAKTERMINAL_H
#define CTWEAKTERMINAL_H

#include <stdbool.h>

/*
 * Takes the terminal of standard output for pictures: another screen without a cursor, and keys
 * that come at once and are not shown, if standard input is a terminal. Whatever signal ends or
 * stops the process gives it back before, and so does exit; what continues it takes it again.
 */
void fbtweak__take_screen(void);
void fbtweak__give_back_screen(void);

/* Whether the terminal has another size, or was taken again, since the last call. */
bool fbtweak__screen_has_changed(void);

/* How many characters it has; 80 and 24 if it does not say. */
void fbtweak__screen_size(int *columns, int *rows);

#endif /* CTWEAKTERMINAL_H */
