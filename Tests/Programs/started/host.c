/* SPDX-License-Identifier: BSD-3-Clause */
/* `started` as a program that gets the library with a plug-in: STARTED_PLUGIN is its path. */
#include <dlfcn.h>
#include <fbtweak.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number(void) {
  return FBTweakValue("Host", "Values", "Number", 1);
}
/* The states whose overrides file has it. */
static int right_number(const char *state) {
  return strcmp(state, "none") == 0 || strcmp(state, "few") == 0 || strcmp(state, "corrupt") == 0
             ? 1
             : 8;
}

int main(int count, char **arguments) {
  const char *path = getenv("STARTED_PLUGIN");
  if (!path || count < 2 || number() != 1)
    return 64;
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  int (*run)(int count, char **arguments) = NULL;
  if (plugin)
    *(void **)&run = dlsym(plugin, "started_main");
  if (!run) {
    fprintf(stderr, "%s\n", dlerror());
    return 64;
  }
  if (number() != right_number(arguments[1])) {
    fprintf(stderr, "the host's tweak is %d\n", number());
    return 1;
  }
  return run(count, arguments);
}
