#include "probe.h"

int main(void) {
  return probe_report();
}
