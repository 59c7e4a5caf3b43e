// SPDX-License-Identifier: BSD-3-Clause
/* Callbacks that do not return normally. */
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#include "scenarios.h"

namespace {

struct counter {
  int calls = 0;
  bool leaves = false;
};
void count(const fbtweak_change *, void *context) {
  static_cast<counter *>(context)->calls++;
}
void count_and_throw(const fbtweak_change *change, void *context) {
  count(change, context);
  if (static_cast<counter *>(context)->leaves)
    throw std::runtime_error("left");
}
void throw_at_once(void *) {
  throw std::runtime_error("action");
}
bool throw_while_walking(const fbtweak *, void *) {
  throw std::runtime_error("walk");
}

template <typename Body> bool throws(const char *what, Body body) {
  try {
    body();
  } catch (const std::exception &error) {
    return strcmp(error.what(), what) == 0;
  }
  return false;
}

/* Checks that observers are notified on this thread and another, and can be removed. */
void expect_that_all_is_well(const fbtweak *tweak) {
  fbtweak_reset(tweak);
  counter own;
  fbtweak_token token = fbtweak_observe(tweak, nullptr, count, &own);
  EXPECT(token);
  fbtweak_set_integer(tweak, 1);
  fbtweak_set_integer(tweak, 2);
  EXPECT(own.calls == 2);
  pthread_t thread;
  auto set = [](void *tweak) -> void * {
    fbtweak_set_integer(static_cast<const fbtweak *>(tweak), 3);
    return nullptr;
  };
  EXPECT(pthread_create(&thread, nullptr, set, const_cast<fbtweak *>(tweak)) == 0);
  EXPECT(pthread_join(thread, nullptr) == 0);
  EXPECT(own.calls == 3 && fbtweak_read_integer(tweak, -1) == 3);
  fbtweak_unobserve(token);
  fbtweak_reset(tweak);
  EXPECT(own.calls == 3);
}

} // namespace

extern "C" void leave_by_exception(void) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  counter before, thrower, after;
  thrower.leaves = true;
  fbtweak_token first = fbtweak_observe(tweak, nullptr, count, &before);
  fbtweak_token second = fbtweak_observe(tweak, nullptr, count_and_throw, &thrower);
  fbtweak_token third = fbtweak_observe(tweak, nullptr, count, &after);

  /* The others are notified, and the value is set. */
  EXPECT(throws("left", [&] { fbtweak_set_integer(tweak, 6); }));
  EXPECT(fbtweak_read_integer(tweak, -1) == 6);
  EXPECT(before.calls == 1 && thrower.calls == 1 && after.calls == 1);
  EXPECT(throws("left", [&] { fbtweak_reset(tweak); }));
  EXPECT(before.calls == 2 && thrower.calls == 2 && after.calls == 2);

  /* An observer called before a change. */
  fbtweak_unobserve(second);
  second = fbtweak_observe(tweak, count_and_throw, nullptr, &thrower);
  EXPECT(throws("left", [&] { fbtweak_set_integer(tweak, 7); }));
  EXPECT(fbtweak_read_integer(tweak, -1) == 7);
  fbtweak_unobserve(second);

  /* In the program's own loop. */
  fbtweak_queue *queue = fbtweak_queue_make();
  second = fbtweak_observe_in(queue, tweak, count_and_throw, &thrower);
  fbtweak_set_integer(tweak, 8);
  EXPECT(throws("left", [&] { fbtweak_queue_deliver(queue); }));
  fbtweak_queue_destroy(queue);

  const fbtweak *action =
      fbtweak_make_action("Leaving", "Actions", "Throw", throw_at_once, nullptr);
  EXPECT(throws("action", [&] { fbtweak_run(action); }));
  EXPECT(fbtweak_remove(action) == FBTWEAK_OK);
  EXPECT(throws("walk", [] { fbtweak_walk(nullptr, nullptr, throw_while_walking, nullptr); }));

  fbtweak_unobserve(first);
  fbtweak_unobserve(third);
  expect_that_all_is_well(tweak);
}

namespace {

void end_thread(const fbtweak_change *change, void *context) {
  count(change, context);
  pthread_exit(nullptr);
}
void be_cancelled(const fbtweak_change *change, void *context) {
  count(change, context);
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

void *set_level(void *) {
  fbtweak_set_integer(fbtweak_find("Sound", "Mixer", "Level"), 6);
  return nullptr;
}

} // namespace

extern "C" void leave_by_end_of_thread(void) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  for (fbtweak_callback callback : {end_thread, be_cancelled}) {
    counter leaver, other;
    fbtweak_token first = fbtweak_observe(tweak, nullptr, callback, &leaver);
    fbtweak_token second = fbtweak_observe(tweak, nullptr, count, &other);
    pthread_t thread;
    EXPECT(pthread_create(&thread, nullptr, set_level, nullptr) == 0);
    EXPECT(pthread_join(thread, nullptr) == 0);
    EXPECT(leaver.calls == 1 && fbtweak_read_integer(tweak, -1) == 6);
    fbtweak_unobserve(first);
    fbtweak_reset(tweak);
    EXPECT(other.calls >= 1);
    fbtweak_unobserve(second);
    expect_that_all_is_well(tweak);
  }
}

namespace {

void *set_for_ever(void *) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  for (int value = 0;; value++)
    fbtweak_set_integer(tweak, value % 10);
}

} // namespace

/* Threads cancelled at any point in the library. */
extern "C" void cancel_at_any_time(const char *count_of_rounds) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  counter counter;
  fbtweak_token token = fbtweak_observe(
      tweak, nullptr, [](const fbtweak_change *, void *) { pthread_testcancel(); }, &counter);
  for (int round = 0; round < atoi(count_of_rounds); round++) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, nullptr, set_for_ever, nullptr) == 0);
    usleep(1000);
    pthread_cancel(thread);
    EXPECT(pthread_join(thread, nullptr) == 0);
  }
  fbtweak_unobserve(token);
  expect_that_all_is_well(tweak);
}
