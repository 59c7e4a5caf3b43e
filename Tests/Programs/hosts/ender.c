/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that a host execs, linked statically so that it runs in every environment. */
int main(void) {
  return 7;
}
