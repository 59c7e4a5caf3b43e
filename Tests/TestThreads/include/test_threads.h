/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_THREADS_H
#define TEST_THREADS_H

/* Whoever depends on this target has tests that run in more threads; see threads.c. */
long sysconf(int name);

/*
 * What a loop does with the record of a gate, in two steps: fbtweak.h does both in FBTweakGate.
 * The first returns whether something waited.
 */
int test_gate_take(void *gate);
void test_gate_store(void *gate);
/* The number of stores that wait. */
unsigned long long test_gate_waiting(void *gate);

#endif
