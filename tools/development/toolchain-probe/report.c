#include <stdio.h>

#include "probe.h"

int probe_report(void) {
  probe_touch();
  printf("bool %d\n", probe_bool());
  printf("int %d\n", probe_int());
  printf("limited int %d\n", probe_limited_int());
  printf("double %.17g\n", probe_double());
  printf("limited double %.17g\n", probe_limited_double());
  printf("string %s\n", probe_string());
  printf("empty string [%s]\n", probe_empty_string());
  printf("static functions %d\n", probe_static_functions());
  printf("touched %d\n", probe_touched);
  printf("linked member %d\n", probe_linked_member());
  printf("static inline %d %d\n", probe_static_inline(), probe_static_inline_elsewhere());
  probe_forms();
  return fflush(stdout);
}
