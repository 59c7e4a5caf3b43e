/* SPDX-License-Identifier: BSD-3-Clause */
/* `started`, linked with the library or with the library preloaded. */
#include "started.h"

int main(int count, char **arguments) {
  return started_main(count, arguments);
}
