/* SPDX-License-Identifier: BSD-3-Clause */
/* As many tweaks as the argument says. */
#include <fbtweak.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  for (int number = 0; count > 1 && number < atoi(arguments[1]); number++) {
    char name[16];
    snprintf(name, sizeof name, "%d", number);
    fbtweak_declaration declaration = {.category = "Leased",
                                       .collection = "Values",
                                       .name = name,
                                       .default_value = {FBTWEAK_TYPE_INT32, {.integer = 0}}};
    if (!fbtweak_make(&declaration))
      return 1;
  }
  for (;;)
    pause();
}
