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
