/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that set tweaks continuously. */
#include <pthread.h>
#include <stdatomic.h>

#include "scenarios.h"

static atomic_bool is_over;
static atomic_long changes, calls;

static void nothing(const fbtweak_change *change, void *context) {
  (void)change, (void)context;
  calls++;
}
static void *set_until_over(void *name) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", name);
  for (int value = 0; !is_over; value++, changes++)
    fbtweak_set_number(tweak, value % 2 ? 0.25 : 0.75);
  return NULL;
}

/* The other thread continues until this one has set some tweaks, so no call may wait for its end.
 */
void set_beside_others(void) {
  const fbtweak *level = fbtweak_find("Sound", "Mixer", "Level");
  fbtweak_token token = fbtweak_observe(NULL, NULL, nothing, NULL);
  pthread_t others[3];
  for (int i = 0; i < 3; i++)
    EXPECT(pthread_create(&others[i], NULL, set_until_over, "Gain") == 0);
  while (changes < 1000) {
  }
  for (int value = 0; value < 200; value++)
    EXPECT(fbtweak_set_integer(level, value % 10) == FBTWEAK_OK);
  is_over = true;
  for (int i = 0; i < 3; i++)
    pthread_join(others[i], NULL);
  EXPECT(calls > 0);
  fbtweak_unobserve(token);
}

static long resident_pages(void) {
  long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  EXPECT(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
  fclose(file);
  return resident;
}

static void *set_often(void *count) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Gain");
  for (long i = 0; i < *(long *)count; i++)
    fbtweak_set_number(tweak, i % 2 ? 0.25 : 0.75);
  return NULL;
}
static void set_on_four_threads(long count) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    EXPECT(pthread_create(&threads[i], NULL, set_often, &count) == 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
}

/* The queue of observers is bounded, with and without observers. A queued change takes more than
 * 100 bytes. */
void set_without_growing(const char *count_of_sets) {
  set_on_four_threads(1000);
  long before = resident_pages();
  set_on_four_threads(atol(count_of_sets));
  fbtweak_token token = fbtweak_observe(NULL, NULL, nothing, NULL);
  set_on_four_threads(atol(count_of_sets));
  fbtweak_unobserve(token);
  EXPECT(resident_pages() - before < 2048);
}
