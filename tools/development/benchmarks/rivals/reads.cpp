// SPDX-License-Identifier: BSD-3-Clause

// Prints the nanoseconds of processor time per read, in ways that take turns: reads SAMPLES.
#include <absl/flags/flag.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fbtweak.h>
#include <gflags/gflags.h>
#include <string>
#include <thread>
#include <vector>

DEFINE_int32(gflags_level, 42, "a level");
DEFINE_string(gflags_text, "linear", "a text");
ABSL_FLAG(int, abseil_level, 42, "a level");
ABSL_FLAG(std::string, abseil_text, "linear", "a text");

FBTweakApplication("rivals");

// Not static: others may write them.
int plain_level = 42;
const char *plain_text = "linear";

namespace {

std::atomic<int> atomic_level{42};
std::atomic<const char *> atomic_text{"linear"};

int tweak_level() {
  return FBTweakValue("Rivals", "Read", "Level", 42, 0, 1000000);
}
const char *tweak_text() {
  return FBTweakValue("Rivals", "Read", "Text", "linear");
}

// Uses a value, after which the compiler must assume that memory has changed, as after a call.
template <typename Value> void use(const Value &value) {
  asm volatile("" ::"r"(value) : "memory");
}

struct way {
  const char *what, *name;
  void (*run)(long);
};

// Eight reads for each turn of the loop, as in loops.c.
#define LOOP(read_)                                                                                \
  [](long turns) {                                                                                 \
    for (long turn = 0; turn < turns; turn++) {                                                    \
      use(read_);                                                                                  \
      use(read_);                                                                                  \
      use(read_);                                                                                  \
      use(read_);                                                                                  \
      use(read_);                                                                                  \
      use(read_);                                                                                  \
      use(read_);                                                                                  \
      use(read_);                                                                                  \
    }                                                                                              \
  }
constexpr int reads_per_turn = 8;

const way ways[] = {
    {"int", "tweak", LOOP(tweak_level())},
    {"int", "constant", LOOP(42)},
    {"int", "global", LOOP(plain_level)},
    {"int", "relaxed atomic", LOOP(atomic_level.load(std::memory_order_relaxed))},
    {"int", "gflags", LOOP(FLAGS_gflags_level)},
    {"int", "abseil", LOOP(absl::GetFlag(FLAGS_abseil_level))},
    {"text", "tweak", LOOP(tweak_text())},
    {"text", "constant", LOOP("linear")},
    {"text", "global", LOOP(plain_text)},
    {"text", "relaxed atomic", LOOP(atomic_text.load(std::memory_order_relaxed))},
    {"text", "gflags", LOOP(FLAGS_gflags_text.c_str())},
    {"text", "abseil", LOOP(absl::GetFlag(FLAGS_abseil_text).c_str())},
};
// The ways in which eight threads read while another one writes.
const way shared[] = {ways[0], ways[3], ways[5]};
constexpr int threads = 8;

// Processor time, which other processes do not take.
double nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

double measured(const way &way, long turns) {
  double start = nanoseconds();
  way.run(turns);
  return (nanoseconds() - start) / (turns * reads_per_turn);
}

long turns_of(const way &way) {
  long turns = 16;
  while (measured(way, turns) * turns * reads_per_turn < 250e3)
    turns *= 2;
  return turns;
}

// The mean of all threads. The three settings are written in turn, so equally often.
double measured_by_threads(const way &way, long turns) {
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    const fbtweak *tweak = fbtweak_find("Rivals", "Read", "Level");
    for (int value = 0; !ends.load(); value++) {
      fbtweak_set_integer(tweak, value % 1000);
      atomic_level.store(value % 1000, std::memory_order_relaxed);
      absl::SetFlag(&FLAGS_abseil_level, value % 1000);
    }
  });
  std::vector<double> samples(threads);
  std::vector<std::thread> readers;
  for (double &sample : samples)
    readers.emplace_back([&] { sample = measured(way, turns); });
  double sum = 0;
  for (int index = 0; index < threads; index++) {
    readers[index].join();
    sum += samples[index];
  }
  ends.store(true);
  writer.join();
  return sum / threads;
}

} // namespace

int main(int argc, char **argv) {
  int samples = argc > 1 ? std::atoi(argv[1]) : 1;
  std::vector<long> turns;
  for (const way &way : ways)
    turns.push_back(turns_of(way));
  for (int sample = 0; sample < samples; sample++) {
    for (size_t index = 0; index < turns.size(); index++)
      std::printf("%s\t%s\t%g\n", ways[index].what, ways[index].name,
                  measured(ways[index], turns[index]));
    // Threads take longer to start than to read.
    if (sample % 10 == 0)
      for (const way &way : shared)
        std::printf("int, 8 threads and a writer\t%s\t%g\n", way.name,
                    measured_by_threads(way, turns[&way - shared]));
  }
}
