/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in for plugins.c, compiled by the tests. */
#include <fbtweak.h>

int plugin_depth(void);
void plugin_observe(void);
int plugin_observed(void);
int plugin_made_runs(void);
int plugin_wet(void);

int plugin_depth(void) {
  return FBTweakValue("Plug-in", "Reverb", "Depth", 30, 0, 100);
}

static int observed;
static void count(const fbtweak_change *change, void *context) {
  (void)change, (void)context;
  observed++;
}
/* Observes all tweaks, and never stops. */
void plugin_observe(void) {
  fbtweak_observe(0, 0, count, 0);
}
int plugin_observed(void) {
  return observed;
}

static void reset(void) {
  fbtweak_reset(fbtweak_find("Plug-in", "Reverb", "Depth"));
}
FBTweakAction("Plug-in", "Reverb", "Reset", reset);

static int runs;
static void count_run(void *context) {
  (void)context;
  runs++;
}
int plugin_made_runs(void) {
  return runs;
}

static int wet;
int plugin_wet(void) {
  return wet;
}
static __attribute__((constructor)) void set_up(void) {
  fbtweak_make_action("Plug-in", "Reverb", "Made", count_run, 0);
  FBTweakBind(wet, "Plug-in", "Reverb", "Depth", 30, 0, 100);
}
