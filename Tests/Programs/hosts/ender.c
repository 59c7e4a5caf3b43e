/* What a host becomes by exec. Linked statically, so that it runs wherever the host is. */
int main(void) {
  return 7;
}
