/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios.h"

static const struct {
  const char *name;
  void (*run)(void);
  void (*run_with)(const char *argument);
  void (*run_with_two)(const char *first, const char *second);
} scenarios[] = {
    {"find-and-read", .run = find_and_read},
    {"describe", .run = describe},
    {"walk", .run = walk},
    {"set-and-reset", .run = set_and_reset},
    {"refuse", .run = refuse},
    {"bind", .run = bind_variables},
    {"observe", .run = observe},
    {"observe-in-callbacks", .run = observe_in_callbacks},
    {"observe-from-threads", .run = observe_from_threads},
    {"loads", .run_with = observe_loads},
    {"another-type", .run_with = observe_another_type},
    {"queue", .run = queue_changes},
    {"make-and-remove", .run = make_and_remove},
    {"run-actions", .run = run_actions},
    {"macros", .run = use_macros},
    {"bindings", .run = bind_owners},
    {"fork", .run = keep_after_fork},
    {"read-while-set", .run_with = read_while_set},
    {"fork-while-used", .run_with = fork_while_used},
    {"leave-by-exception", .run = leave_by_exception},
    {"leave-by-end-of-thread", .run = leave_by_end_of_thread},
    {"cancel-at-any-time", .run_with = cancel_at_any_time},
    {"set-beside-others", .run = set_beside_others},
    {"set-without-growing", .run_with = set_without_growing},
    {"open-and-close", .run_with_two = open_and_close},
    {"open-with-override", .run_with = open_with_override},
    {"open-and-keep", .run_with = open_and_keep},
    {"open-often", .run_with_two = open_often},
    {"open-while-used", .run_with_two = open_while_used},
};

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "";
  for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
    if (strcmp(name, scenarios[i].name) != 0)
      continue;
    if (scenarios[i].run && count == 2)
      scenarios[i].run();
    else if (scenarios[i].run_with && count == 3)
      scenarios[i].run_with(arguments[2]);
    else if (scenarios[i].run_with_two && count == 4)
      scenarios[i].run_with_two(arguments[2], arguments[3]);
    else
      break;
    return 0;
  }
  fprintf(stderr, "there is no scenario %s, or it takes other arguments\n", name);
  return 64;
}
