// SPDX-License-Identifier: BSD-3-Clause
/*
 * Constructors that use the whole interface, in the image of the program: they run before or after
 * the constructor of the library and those of the Swift runtime, in the order of the link and of
 * their priorities. PLACE names the place of this object in the link. Whatever a call says that it
 * did must be so in `main`, and what it refused must have changed nothing.
 */
#include <fbtweak.h>

#include <cstdio>
#include <cstring>

#include "started.h"

namespace {

struct Early {
  /* Where in the order of constructors: the name of its tweaks. */
  const char *name;
  const fbtweak *handle, *made;
  size_t walked;
  int set, set_other, reset, ran, bound, made_set;
  int variable, called, runs, queued;
  fbtweak_token token, token_in_queue;
  fbtweak_queue *queue;
  char error[200];
};

enum { DEFAULT = 3, SET = 5, SET_LATER = 7, SET_ON_MADE = 11 };

void count_call(const fbtweak_change *, void *count) {
  ++*static_cast<int *>(count);
}
bool visit(const fbtweak *, void *) {
  return true;
}
void run(void *count) {
  ++*static_cast<int *>(count);
}
fbtweak_declaration declaration(const char *name) {
  fbtweak_declaration made = {};
  made.category = "Early";
  made.collection = "New";
  made.name = name;
  made.default_value.type = FBTWEAK_TYPE_INT32;
  made.default_value.integer = DEFAULT;
  return made;
}

void call_everything(Early &early) {
  early.walked = fbtweak_walk(nullptr, nullptr, visit, nullptr);
  early.handle = fbtweak_find("Early", "Values", early.name);
  early.set = fbtweak_set_integer(early.handle, SET);
  early.set_other = fbtweak_set_text(fbtweak_find("Early", "Others", early.name), "7");
  early.reset = fbtweak_reset(fbtweak_find("Early", "Others", early.name));
  early.token = fbtweak_observe(early.handle, count_call, count_call, &early.called);
  early.bound = fbtweak_bind(early.handle, &early.variable);
  const fbtweak_declaration made = declaration(early.name);
  early.made = fbtweak_make(&made);
  early.made_set = fbtweak_set_integer(early.made, SET_ON_MADE);
  const fbtweak *action = fbtweak_make_action("Early", "Actions", early.name, run, &early.runs);
  early.ran = fbtweak_run(action);
  early.queue = fbtweak_queue_make();
  if (early.queue)
    early.token_in_queue = fbtweak_observe_in(early.queue, early.handle, count_call, &early.queued);
  std::snprintf(early.error, sizeof(early.error), "%s", fbtweak_error());
}

Early with_priority = {}, in_order = {};

int value(const Early &early) {
  if (&early == &with_priority)
    return FBTweakValue("Early", "Values", PLACE ", with priority", 3) +
           100 * FBTweakValue("Early", "Others", PLACE ", with priority", 0);
  return FBTweakValue("Early", "Values", PLACE, 3) +
         100 * FBTweakValue("Early", "Others", PLACE, 0);
}

bool is_right = true;
void expect(bool condition, const Early &early, const char *what) {
  if (condition)
    return;
  is_right = false;
  std::fprintf(stderr, "what a constructor did (%s): %s; it was told: %s\n", early.name, what,
               early.error);
}

void check(Early &early) {
  const fbtweak *handle = fbtweak_find("Early", "Values", early.name);
  expect(handle, early, "its tweak is not there");
  expect(!early.handle || early.handle == handle, early, "the handle is another one");
  expect(early.handle || early.set < 0, early, "what was not there was set");
  expect(value(early) == (early.set == FBTWEAK_OK ? SET : DEFAULT), early,
         "the value in the code is wrong");
  expect(fbtweak_read_integer(handle, 0) == value(early), early, "the handle reads another");
  expect((early.set_other == FBTWEAK_OK) == (early.reset == FBTWEAK_OK), early, "set, not reset");

  const fbtweak *made = fbtweak_find("Early", "New", early.name);
  expect(made == early.made, early, "what was made is not there");
  expect(!made || fbtweak_read_integer(made, 0) ==
                      (early.made_set == FBTWEAK_OK ? SET_ON_MADE : DEFAULT),
         early, "what was made has a wrong value");
  const fbtweak_declaration again = declaration(early.name);
  expect(!fbtweak_make(&again) == !!made, early, "making it again is wrong");

  if (made)
    expect(fbtweak_reset(made) == FBTWEAK_OK && fbtweak_remove(made) == FBTWEAK_OK, early,
           "what was made cannot be removed");

  expect(early.runs == (early.ran == FBTWEAK_OK ? 1 : 0), early, "the action");
  const fbtweak *action = fbtweak_find("Early", "Actions", early.name);
  expect(fbtweak_run(action) == FBTWEAK_OK ? early.runs > 0 : early.ran < 0, early,
         "the action is gone");

  early.called = 0;
  if (early.queue)
    fbtweak_queue_deliver(early.queue);
  early.queued = 0;
  expect(fbtweak_set_integer(handle, SET_LATER) == FBTWEAK_OK, early, "it cannot be set");
  expect(value(early) == SET_LATER, early, "a set in main has no effect");
  expect(early.called == (early.token ? 2 : 0), early, "the observer was not called as it said");
  expect(early.bound != FBTWEAK_OK || early.variable == SET_LATER, early,
         "the variable is not bound");
  if (early.queue) {
    fbtweak_queue_deliver(early.queue);
    expect(early.queued == (early.token_in_queue ? 1 : 0), early,
           "the queue delivers something else");
  }
  fbtweak_unobserve(early.token);
  fbtweak_unbind(&early.variable);
  fbtweak_queue_destroy(early.queue);
  expect(fbtweak_reset(handle) == FBTWEAK_OK && value(early) == DEFAULT, early,
         "it cannot be reset");
}

int are_right() {
  check(with_priority);
  check(in_order);
  return is_right;
}

__attribute__((constructor(101))) void call_with_priority() {
  with_priority.name = PLACE ", with priority";
  call_everything(with_priority);
  started_check_first(are_right);
}
struct Constructor {
  Constructor() {
    in_order.name = PLACE;
    call_everything(in_order);
  }
} constructor;

} // namespace
