/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads that read, set, look up and observe concurrently. */
#include <fbtweak.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int level(void) {
  return FBTweakValue("Crowd", "Mixer", "Level", 5, 0, 1000000);
}
static const char *title(void) {
  return FBTweakValue("Crowd", "Mixer", "Title", "none");
}

static int calls;
static void count(const fbtweak_change *change, void *context) {
  (void)change;
  (void)context;
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

static void *work(void *number) {
  for (int i = 0; i < 300; i++) {
    char text[32];
    const fbtweak *tweak = fbtweak_find("Crowd", "Mixer", "Level");
    fbtweak_token token = fbtweak_observe(tweak, NULL, count, NULL);
    snprintf(text, sizeof(text), "%d of %d", i, *(int *)number);
    if (level() < 0 || strcmp(title(), "") == 0 || fbtweak_set_integer(tweak, i) != FBTWEAK_OK ||
        fbtweak_set_text(fbtweak_find("Crowd", "Mixer", "Title"), text) != FBTWEAK_OK)
      return number;
    fbtweak_unobserve(token);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[6];
  int numbers[6];
  void *failed = NULL;
  for (int i = 0; i < 6; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
      return 1;
  }
  for (int i = 0; i < 6; i++) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    failed = failed ? failed : result;
  }
  return failed || calls == 0;
}
