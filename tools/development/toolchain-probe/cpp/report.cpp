#include <stdio.h>

#include "probe.hpp"

int probe_report() {
  probe_touch();
  printf("bool %d\n", probe_bool());
  printf("signed %d %d %d %lld\n", probe_int8(), probe_int16(), probe_int(), probe_int64());
  printf("unsigned %d %d %u %llu\n", probe_uint8(), probe_uint16(), probe_uint32(), probe_uint64());
  printf("float %g\n", probe_float());
  printf("double %.17g\n", probe_double());
  printf("limited double %.17g\n", probe_limited_double());
  printf("string %s\n", probe_string());
  printf("empty string [%s]\n", probe_empty_string());
  printf("enumerations %d %d\n", static_cast<int>(probe_scoped()), probe_plain());
  printf("constant %g\n", probe_constant());
  printf("static functions %d %d\n", probe_static_functions(), probe_before_header());
  printf("lambdas %d %d %d\n", probe_lambda(), probe_global, probe_inline_lambda());
  printf("static inline %d %d\n", probe_static_inline(), probe_static_inline_elsewhere());
  ProbeCircle circle;
  ProbeShape shape, *either[] = {&shape, &circle};
  printf("members %d %d %d %d\n", shape.constructed, shape.member(), shape.static_member(),
         ProbeOutside().member());
  printf("virtual members %g %g\n", either[0]->virtual_member(), either[1]->virtual_member());
  printf("the same elsewhere %d\n", probe_all_inline() == probe_all_inline_elsewhere());
  printf("in C %d %d\n", probe_touched, probe_linked_member());
  probe_forms();
  printf("lambda actions %d\n", probe_lambda_acted());
  printf("binding %d\n", static_cast<int>(probe_binding()));
#ifdef __clang__
  printf("templates %d %d %d\n", probe_template(1), probe_template_elsewhere(),
         ProbeBox<long>().member());
#endif
  return fflush(stdout);
}
