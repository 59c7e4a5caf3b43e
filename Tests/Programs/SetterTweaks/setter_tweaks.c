/* SPDX-License-Identifier: BSD-3-Clause */
#include "setter_tweaks.h"

#include <fbtweak.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

bool setter_flag(void) {
  return FBTweakValue("Setter", "Values", "Flag", false);
}
int setter_count(void) {
  return FBTweakValue("Setter", "Values", "Count", 5, 0, 1000000);
}
double setter_ratio(void) {
  return FBTweakValue("Setter", "Values", "Ratio", 0.5, 0, 1);
}
const char *setter_text(void) {
  return FBTweakValue("Setter", "Values", "Text", "hello");
}

int setter_slot(int slot) {
  switch (slot) {
  case 0:
    return FBTweakValue("Setter", "Slots", "Slot 0", 0);
  case 1:
    return FBTweakValue("Setter", "Slots", "Slot 1", 0);
  case 2:
    return FBTweakValue("Setter", "Slots", "Slot 2", 0);
  case 3:
    return FBTweakValue("Setter", "Slots", "Slot 3", 0);
  case 4:
    return FBTweakValue("Setter", "Slots", "Slot 4", 0);
  case 5:
    return FBTweakValue("Setter", "Slots", "Slot 5", 0);
  case 6:
    return FBTweakValue("Setter", "Slots", "Slot 6", 0);
  case 7:
    return FBTweakValue("Setter", "Slots", "Slot 7", 0);
  default:
    return -1;
  }
}

int setter_fork_and_exit(void) {
  pid_t child = fork();
  if (child == 0)
    exit(setter_count() < 0);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}
bool setter_set_slot(int value) {
  return fbtweak_set_integer(fbtweak_find("Setter", "Slots", "Slot 0"), value) >= 0;
}
int setter_read_slot(void) {
  return (int)fbtweak_read_integer(fbtweak_find("Setter", "Slots", "Slot 0"), -1);
}
int setter_find(const char *category, const char *collection, const char *name) {
  return (int)fbtweak_read_integer(fbtweak_find(category, collection, name), -1);
}
const fbtweak *setter_ratio_tweak(void) {
  return fbtweak_find("Setter", "Values", "Ratio");
}
double setter_read(const fbtweak *tweak) {
  return fbtweak_read_number(tweak, -1);
}

static void count_up(void *context) {
  (void)context;
  fbtweak_set_integer(fbtweak_find("Setter", "Values", "Count"), setter_count() + 1);
}
static void wait_long(void *context) {
  (void)context;
  sleep(4);
}
static void end(void *context) {
  (void)context;
  _exit(3);
}
void setter_make_actions(void) {
  fbtweak_make_action("Setter", "Actions", "Count up", count_up, NULL);
  fbtweak_make_action("Setter", "Actions", "Wait", wait_long, NULL);
  fbtweak_make_action("Setter", "Actions", "End", end, NULL);
}
