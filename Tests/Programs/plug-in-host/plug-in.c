/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in with everything that the library could still use after it is gone. Clients set
 * Plug-in/Pair/First and Second together only.
 */
#include <fbtweak.h>
#include <string.h>

const char *use(long round);

static int bound, observed, runs;

static void count(const fbtweak_change *change, void *context) {
  (void)change, (void)context;
  observed++;
}
static void count_load(const fbtweak_load *load, void *context) {
  (void)load, (void)context;
}
static void reset(void) {
  runs++;
}
FBTweakAction("Plug-in", "Values", "Reset", reset);
static void run(void *context) {
  ++*(int *)context;
}

static double level(void) {
  return FBTweakValue("Plug-in", "Values", "Level", 0.5, 0, 1000000);
}
static const char *text(void) {
  return FBTweakValue("Plug-in", "Values", "Text", "initial");
}
static bool is_torn(void) {
  return FBTweakValue("Plug-in", "Pair", "First", 0, 0, 1000000000) !=
         FBTweakValue("Plug-in", "Pair", "Second", 0, 0, 1000000000);
}

/* Returns what is wrong, or NULL. */
const char *use(long round) {
  if (is_torn())
    return "torn when it was opened";
  const fbtweak *tweak = fbtweak_find("Plug-in", "Values", "Level");
  if (!tweak) {
    /* As without the library. */
    return level() == 0.5 && strcmp(text(), "initial") == 0 ? NULL : "not its defaults";
  }
  FBTweakBind(bound, "Plug-in", "Values", "Bound", 30, 0, 100);
  FBTweakMonitor("Plug-in", "Values", "Round", round);
  if (round % 2 == 0) {
    /* These stay until the plug-in goes. */
    fbtweak_observe(NULL, NULL, count, NULL);
    fbtweak_observe(NULL, count, NULL, NULL);
    fbtweak_observe_loads(count_load, NULL);
    fbtweak_make_action("Plug-in", "Values", "Made", run, &runs);
    if (fbtweak_run(fbtweak_find("Plug-in", "Values", "Made")) != FBTWEAK_OK || runs == 0)
      return "an action does not run";
  }
  fbtweak_queue *queue = round % 3 == 0 ? fbtweak_queue_make() : NULL;
  if (queue)
    fbtweak_observe_in(queue, NULL, count, NULL);
  if (fbtweak_set_number(tweak, (double)round) != FBTWEAK_OK)
    return fbtweak_error();
  for (int i = 0; i < 20; i++) {
    FBTweakGate("Plug-in", "Pair");
    if (is_torn())
      return "torn behind a gate";
  }
  if (queue) {
    fbtweak_queue_deliver(queue);
    fbtweak_queue_destroy(queue);
  }
  return NULL;
}
