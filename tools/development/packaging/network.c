// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

// The commands that speak HTTP are one program, because most of it is what both need. Either can be
// left out.
int tweak_agent_main(int, char **) __attribute__((weak));
int tweak_ui_main(int, char **) __attribute__((weak));

// The name by which it is started chooses: tweak-ui and tweak-serve, or tweak-agent, tweak-fleet
// and tweak-sign.
int main(int count, char **arguments) {
  const char *name = count > 0 ? arguments[0] : "";
  const char *slash = strrchr(name, '/');
  if (slash)
    name = slash + 1;
  int is_ui = strcmp(name, "tweak-ui") == 0 || strcmp(name, "tweak-serve") == 0;
  int (*chosen)(int, char **) =
      tweak_ui_main && (is_ui || !tweak_agent_main) ? tweak_ui_main : tweak_agent_main;
  return chosen(count, arguments);
}
