#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "scenarios.h"

struct log {
  int count;
  fbtweak_change last;
  int seen; /* the tweak's value during the call */
};
static void note(const fbtweak_change *change, void *context) {
  struct log *log = context;
  log->count++;
  log->last = *change;
  log->seen = (int)fbtweak_read_integer(change->tweak, -1);
}

void observe(void) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  struct log will = {0}, did = {0}, all = {0};
  fbtweak_token one = fbtweak_observe(tweak, note, NULL, &will);
  fbtweak_token two = fbtweak_observe(tweak, NULL, note, &did);
  fbtweak_token three = fbtweak_observe(NULL, NULL, note, &all);
  EXPECT(one && two && three && one != two);

  fbtweak_set_integer(tweak, 6);
  EXPECT(will.count == 1 && will.seen == 5);
  EXPECT(did.count == 1 && did.seen == 6);
  EXPECT(did.last.tweak == tweak && did.last.old_value.integer == 5);
  EXPECT(did.last.new_value.type == FBTWEAK_TYPE_INT32 && did.last.new_value.integer == 6);
  EXPECT_TEXT(did.last.source, "override");
  fbtweak_set_integer(tweak, 6);
  EXPECT(will.count == 1 && did.count == 1);

  fbtweak_set_text(fbtweak_find("Sound", "Output", "Bus"), "side");
  EXPECT(did.count == 1 && all.count == 2);
  EXPECT_TEXT(all.last.old_value.text, "main");
  EXPECT_TEXT(all.last.new_value.text, "side");

  fbtweak_unobserve(two);
  fbtweak_reset(tweak);
  EXPECT(will.count == 2 && did.count == 1 && all.count == 3);
  EXPECT_TEXT(all.last.source, "default");
}

static fbtweak_token removed;
static struct log removed_log, added_log;
static void remove_other(const fbtweak_change *change, void *context) {
  (void)change, (void)context;
  fbtweak_unobserve(removed);
}
static void remove_itself(const fbtweak_change *change, void *context) {
  note(change, context);
  fbtweak_unobserve(*(fbtweak_token *)((struct log *)context + 1));
}
static void set_again(const fbtweak_change *change, void *context) {
  note(change, context);
  if (change->new_value.integer < 10)
    fbtweak_set_integer(change->tweak, change->new_value.integer + 1);
}
static void add_another(const fbtweak_change *change, void *context) {
  (void)context;
  static fbtweak_token added;
  if (!added)
    added = fbtweak_observe(change->tweak, NULL, note, &added_log);
}

void observe_in_callbacks(void) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  struct {
    struct log log;
    fbtweak_token token;
  } itself = {0};
  struct log again = {0};

  fbtweak_token remover = fbtweak_observe(tweak, NULL, remove_other, NULL);
  removed = fbtweak_observe(tweak, NULL, note, &removed_log);
  itself.token = fbtweak_observe(tweak, NULL, remove_itself, &itself);
  fbtweak_token adder = fbtweak_observe(tweak, NULL, add_another, NULL);
  fbtweak_set_integer(tweak, 1);
  EXPECT(removed_log.count == 0 && itself.log.count == 1 && added_log.count == 0);
  fbtweak_set_integer(tweak, 2);
  EXPECT(removed_log.count == 0 && itself.log.count == 1 && added_log.count == 1);
  fbtweak_unobserve(remover);
  fbtweak_unobserve(adder);

  fbtweak_observe(tweak, NULL, set_again, &again);
  fbtweak_set_integer(tweak, 3);
  EXPECT(again.count == 8 && again.last.new_value.integer == 10 && level() == 10);
}

static atomic_int slow_calls;
static atomic_bool slow_runs;
static void be_slow(const fbtweak_change *change, void *context) {
  (void)change;
  EXPECT(*(volatile int *)context == 42);
  atomic_store(&slow_runs, true);
  usleep(20000);
  EXPECT(*(volatile int *)context == 42);
  atomic_fetch_add(&slow_calls, 1);
  atomic_store(&slow_runs, false);
}
static void *set_on_thread(void *tweak) {
  for (int i = 0; i < 20; i++)
    fbtweak_set_integer(tweak, i % 10);
  return NULL;
}

/* What a callback uses can be freed when fbtweak_unobserve has returned. */
void observe_from_threads(void) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  int *context = malloc(sizeof(int));
  *context = 42;
  fbtweak_token token = fbtweak_observe(tweak, NULL, be_slow, context);
  pthread_t thread;
  pthread_create(&thread, NULL, set_on_thread, (void *)tweak);
  while (!atomic_load(&slow_runs))
    usleep(100);
  fbtweak_unobserve(token);
  EXPECT(!atomic_load(&slow_runs));
  int calls = atomic_load(&slow_calls);
  *context = 0;
  free(context);
  pthread_join(thread, NULL);
  EXPECT(atomic_load(&slow_calls) == calls && calls >= 1);
}
