#include <sys/auxv.h>

#include "ctweaks.h"

const char *fbtweak__executed_file(void) {
  return (const char *)getauxval(AT_EXECFN);
}
