#include "../forms.c"

#include "probe.hpp"

static int lambda_acted;
FBTweakAction("Probe", "Forms", "Lambda", [] { lambda_acted++; });

int probe_lambda_acted() {
  FBTweakAction("Probe", "Forms", "Lambda in a Function", [] { lambda_acted += 2; });
#ifdef PROBE_CONSTANTS
  lambda_acted = 3;
#endif
  return lambda_acted;
}

ProbeScoped probe_binding() {
  ProbeScoped scoped;
  fbtweak_binding binding;
  binding = FBTweakBinding(scoped, "Probe", "Forms", "Binding", ProbeScoped::second,
                           FBTweakChoices((ProbeScoped{1}, "one"), ProbeScoped::second));
  return scoped;
}
