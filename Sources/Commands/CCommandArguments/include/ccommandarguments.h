#ifndef CCOMMANDARGUMENTS_H
#define CCOMMANDARGUMENTS_H

/* How many arguments the process was started with, its name included; 0 if with none at all. */
int fbtweak__argument_count(void);

/* The arguments, and a null pointer behind them; a null pointer if there are none at all. */
char **fbtweak__arguments(void);

#endif
