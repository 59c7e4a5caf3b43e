#ifndef TEST_THREADS_H
#define TEST_THREADS_H

/* Whoever depends on this target has tests that run in more threads; see threads.c. */
long sysconf(int name);

#endif
