/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHAIN_H
#define CHAIN_H

/* The tweaks `Features/Chain/Highest`, `Middle` and `Lowest`. */
int chain_highest(void);
int chain_middle(void);
int chain_lowest(void);

/*
 * Loops that read a plain global, or the tweak `Lowest`, eight times in each of `turns` iterations.
 */
void read_global(long turns);
void read_tweak(long turns);

#endif
