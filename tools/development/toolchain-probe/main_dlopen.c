#include <dlfcn.h>
#include <stdio.h>

/* The argument is the library. */
int main(int count, char **arguments) {
  void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) {
    const char *why = dlerror();
    fprintf(stderr, "%s\n", why ? why : "no library is named");
    return 1;
  }
  /* C has no conversion from an object pointer to a function. */
  union {
    void *symbol;
    int (*report)(void);
  } probe = {dlsym(library, "probe_report")};
  return probe.symbol ? probe.report() : 1;
}
