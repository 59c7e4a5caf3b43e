/* The program that a host execs, linked statically so that it runs in every environment. */
int main(void) {
  return 7;
}
