// SPDX-License-Identifier: BSD-3-Clause
/* Exceptions thrown by callbacks, as counted by the program's C++ runtime. */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fbtweak.h>
#include <stdexcept>

namespace {

#define CHECK(condition_)                                                                          \
  do {                                                                                             \
    if (!(condition_)) {                                                                           \
      std::fprintf(stderr, "throwing.cpp:%d: not so: %s\n", __LINE__, #condition_);                \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

int calls, uncaught;

void count(const fbtweak_change *, void *) {
  calls++;
  uncaught += std::uncaught_exceptions();
}
void count_and_throw(const fbtweak_change *change, void *context) {
  count(change, context);
  throw std::runtime_error("left");
}

struct sets_when_destroyed {
  const fbtweak *tweak;
  ~sets_when_destroyed() {
    try {
      fbtweak_set_integer(tweak, 100);
      CHECK(!"nothing is thrown");
    } catch (const std::runtime_error &) {
      CHECK(std::uncaught_exceptions() == 1);
    }
  }
};

} // namespace

extern "C" void throws(void) {
  const fbtweak *tweak = fbtweak_find("Host", "Mixer", "Level");
  const fbtweak_callback callbacks[] = {count_and_throw, count, count_and_throw};
  fbtweak_token tokens[3];
  for (int i = 0; i < 3; i++)
    tokens[i] = fbtweak_observe(tweak, nullptr, callbacks[i], nullptr);
  for (int value = 30; value < 40; value++) {
    try {
      fbtweak_set_integer(tweak, value);
      CHECK(!"nothing is thrown");
    } catch (const std::runtime_error &) {
    }
    CHECK(std::uncaught_exceptions() == 0);
  }
  CHECK(calls == 30 && uncaught == 0);
  try {
    sets_when_destroyed object{tweak};
    throw 7;
  } catch (int) {
  }
  CHECK(std::uncaught_exceptions() == 0);
  for (fbtweak_token token : tokens)
    fbtweak_unobserve(token);
}
