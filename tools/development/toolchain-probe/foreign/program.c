/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses every macro of fbtweak.h, for tools/development/foreign-macros; compiled as C, and included
 * as C++. */
#include <fbtweak.h>
typedef enum { probe_first, probe_second } probe_enum;
void probe_act(void);
FBTweakAction("Q", "Q", "Q", probe_act, FBTweakDescription("Q"), FBTweakOwner("Q"));
FBTweakApplication("Q");
static struct probe_pair { float probe_one, probe_more[2]; } probe_pair = {1, {2, 3}};
FBTweakVariable(probe_pair.probe_one, "Q", "Q", "S", 0, 10, FBTweakUnit("Q"))
    FBTweakVariable(probe_pair.probe_more, "Q", "Q", "T",
                    FBTweakChoices(2, (3, "Q"))) double probe_use(double *probe_bound);
double probe_use(double *probe_bound) {
  double probe_number = FBTweakValue(
      "Q", "Q", "Q", 1.0, 0, 10, FBTweakStep(0.5), FBTweakUnit("Q"), FBTweakPrecision(2),
      FBTweakScale("linear"), FBTweakPair("Q"), FBTweakDescription("Q"), FBTweakOwner("Q"),
      FBTweakExpires("2027-01-31"), FBTweakReadOnly, FBTweakNeedsRestart);
  int probe_choice = FBTweakValue("Q", "Q", "Q", 1, FBTweakChoices((1, "Q"), 2));
  const char *probe_text = FBTweakValue("Q", "Q", "Q", "Q", FBTweakChoices(("Q", "Q"), "R"));
  bool probe_bool = FBTweakValue("Q", "Q", "Q", (bool)1);
  fbtweak_color probe_color = FBTweakValue("Q", "Q", "Q", FBTweakRGB(1, 2, 3));
  FBTweakBind(*probe_bound, "Q", "Q", "Q", 1.0);
  FBTweakUnbind(*probe_bound);
  FBTweakMonitor("Q", "Q", "Q", probe_number, 0, 1);
  FBTweakMonitor("Q", "Q", "Q", probe_choice, FBTweakChoices("Q", "R"));
  FBTweakGate("Q");
  FBTweakGate("Q", "R");
  double probe_copy = 0;
  uint64_t probe_seen = 0;
  FBTweakTake(probe_number, &probe_copy);
  FBTweakTake(probe_number, &probe_copy, &probe_seen);
  const fbtweak *probe_handle = FBTweakInline("Q", "Q", "Q", 8.0);
  bool probe_feature = FBTweakFeature("Q", true) && FBTweakFeaturePart("Q", "R", false);
#ifdef __cplusplus
  fbtweak_binding probe_binding = FBTweakBinding(*probe_bound, "Q", "Q", "Q", 1.0);
  FBTweakAction("Q", "Q", "R", [] { probe_act(); });
#endif
  (void)probe_text, (void)probe_color, (void)probe_handle, (void)probe_feature, (void)probe_bool;
  return probe_number + probe_copy;
}
