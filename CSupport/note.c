/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives an image whose tweaks are all written in Swift the note that fbtweak.h gives the others. In
 * a release build this file is empty.
 */
#include "fbtweak.h"

typedef int fbtweak__not_empty;
