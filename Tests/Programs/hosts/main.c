/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

int main(void) {
  return host_run();
}
