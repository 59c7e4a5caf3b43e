/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scenarios.h"

/* Every tweak has one of two values, whose bytes all differ: a torn read is neither. */
static const int levels[] = {0, 10};
static const double gains[] = {0.1, 0.7};
static const char *const buses[] = {"a bus", "another bus"};
static const unsigned char octets[] = {0x55, 0xaa};
static const long long wides[] = {0x5555555555555555, -0x5555555555555556};
static const float ratios[] = {1.5f, -0.1f};

static struct {
  int level;
  double gain;
  const char *bus;
  long long wide;
} bound;
static atomic_bool is_over;
static atomic_long changes;

static void expect_one_of_two(const fbtweak_change *change, void *context) {
  (void)context;
  if (change->new_value.type == FBTWEAK_TYPE_INT64)
    EXPECT(change->new_value.integer == wides[0] || change->new_value.integer == wides[1]);
  atomic_fetch_add_explicit(&changes, 1, memory_order_relaxed);
}

static void *read_all(void *unused) {
  (void)unused;
  const fbtweak *wide_tweak = fbtweak_find("Types", "Signed", "Wide");
  while (!atomic_load(&is_over)) {
    int an_int = level();
    EXPECT(an_int == levels[0] || an_int == levels[1]);
    an_int = __atomic_load_n(&bound.level, __ATOMIC_RELAXED);
    EXPECT(an_int == levels[0] || an_int == levels[1]);
    double a_double = gain();
    EXPECT(a_double == gains[0] || a_double == gains[1]);
    __atomic_load(&bound.gain, &a_double, __ATOMIC_RELAXED);
    EXPECT(a_double == gains[0] || a_double == gains[1]);
    long long a_wide = wide();
    EXPECT(a_wide == wides[0] || a_wide == wides[1]);
    a_wide = __atomic_load_n(&bound.wide, __ATOMIC_RELAXED);
    EXPECT(a_wide == wides[0] || a_wide == wides[1]);
    a_wide = fbtweak_read_integer(wide_tweak, 0);
    EXPECT(a_wide == wides[0] || a_wide == wides[1]);
    const char *a_text = bus();
    EXPECT(strcmp(a_text, buses[0]) == 0 || strcmp(a_text, buses[1]) == 0);
    a_text = __atomic_load_n(&bound.bus, __ATOMIC_ACQUIRE);
    EXPECT(strcmp(a_text, buses[0]) == 0 || strcmp(a_text, buses[1]) == 0);
    unsigned char an_octet = octet();
    EXPECT(an_octet == octets[0] || an_octet == octets[1]);
    float a_float = ratio();
    EXPECT(a_float == ratios[0] || a_float == ratios[1]);
    (void)muted();
  }
  return NULL;
}

static void set_all(int i) {
  fbtweak_set_integer(fbtweak_find("Sound", "Mixer", "Level"), levels[i]);
  fbtweak_set_number(fbtweak_find("Sound", "Mixer", "Gain"), gains[i]);
  fbtweak_set_bool(fbtweak_find("Sound", "Mixer", "Muted"), i);
  fbtweak_set_text(fbtweak_find("Sound", "Output", "Bus"), buses[i]);
  fbtweak_set_integer(fbtweak_find("Types", "Unsigned", "Octet"), octets[i]);
  fbtweak_set_integer(fbtweak_find("Types", "Signed", "Wide"), wides[i]);
  fbtweak_set_number(fbtweak_find("Types", "Reals", "Ratio"), ratios[i]);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void read_while_set(const char *seconds) {
  set_all(0);
  fbtweak_bind(fbtweak_find("Sound", "Mixer", "Level"), &bound.level);
  fbtweak_bind(fbtweak_find("Sound", "Mixer", "Gain"), &bound.gain);
  fbtweak_bind(fbtweak_find("Sound", "Output", "Bus"), &bound.bus);
  fbtweak_bind(fbtweak_find("Types", "Signed", "Wide"), &bound.wide);
  fbtweak_observe(NULL, expect_one_of_two, expect_one_of_two, NULL);
  pthread_t readers[8];
  for (int i = 0; i < 8; i++)
    pthread_create(&readers[i], NULL, read_all, NULL);
  long rounds = 0;
  for (double end = now() + atof(seconds); now() < end; rounds++)
    set_all(rounds % 2);
  atomic_store(&is_over, true);
  for (int i = 0; i < 8; i++)
    pthread_join(readers[i], NULL);
  /* The first round may change nothing; each later one changes all seven, notified before and
   * after. */
  EXPECT(rounds > 1 && atomic_load(&changes) >= (rounds - 1) * 14);
}

static bool visit(const fbtweak *tweak, void *context) {
  (void)context;
  return fbtweak_name(tweak) != NULL;
}
static void *use(void *unused) {
  (void)unused;
  while (!atomic_load(&is_over)) {
    fbtweak_token token = fbtweak_observe(NULL, NULL, expect_one_of_two, NULL);
    fbtweak_set_integer(fbtweak_find("Plug-in", "Reverb", "Depth"), 7);
    fbtweak_set_bool(fbtweak_find("Sound", "Mixer", "Muted"), !muted());
    fbtweak_walk(NULL, NULL, visit, NULL);
    fbtweak_unobserve(token);
  }
  return NULL;
}

/* The child lacks the threads that may have held a lock or run an observer. */
void fork_while_used(const char *forks) {
  pthread_t users[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&users[i], NULL, use, NULL);
  fflush(NULL);
  for (long left = atol(forks); left > 0; left--) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      set_all(1);
      fbtweak_token token = fbtweak_observe(NULL, NULL, expect_one_of_two, NULL);
      atomic_store(&changes, 0);
      set_all(0);
      EXPECT(level() == levels[0] && atomic_load(&changes) >= 7);
      fbtweak_unobserve(token);
      exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  atomic_store(&is_over, true);
  for (int i = 0; i < 3; i++)
    pthread_join(users[i], NULL);
}

void open_while_used(const char *plugin, const char *rounds) {
  pthread_t users[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&users[i], NULL, use, NULL);
  for (long round = atol(rounds); round > 0; round--) {
    void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    EXPECT(library && fbtweak_find("Plug-in", "Reverb", "Depth"));
    EXPECT(dlclose(library) == 0);
  }
  atomic_store(&is_over, true);
  for (int i = 0; i < 3; i++)
    pthread_join(users[i], NULL);
  EXPECT(!fbtweak_find("Plug-in", "Reverb", "Depth"));
}
