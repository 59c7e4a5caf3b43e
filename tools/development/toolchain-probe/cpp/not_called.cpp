#include "probe.hpp"

/* As unused.c, in C++. */
int probe_not_called();
int probe_not_called() {
  return FBTweakValue("Probe", "Unused", "C++ Function", 14);
}
