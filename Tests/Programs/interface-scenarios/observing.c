/* SPDX-License-Identifier: BSD-3-Clause */
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

/* A callback's context can be freed once fbtweak_unobserve has returned. */
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

struct loads {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int count;
  char last[200];
};

static void note_load(const fbtweak_load *load, void *context) {
  struct loads *loads = context;
  pthread_mutex_lock(&loads->lock);
  loads->count++;
  snprintf(loads->last, sizeof(loads->last), "%s %s %d", load->provider,
           load->problem ? load->problem : "loaded", level());
  pthread_cond_signal(&loads->changed);
  pthread_mutex_unlock(&loads->lock);
}

static void replace(const char *path, const char *text) {
  char new_path[4096];
  snprintf(new_path, sizeof(new_path), "%s.new", path);
  FILE *file = fopen(new_path, "w");
  EXPECT(file && fputs(text, file) >= 0 && fclose(file) == 0 && rename(new_path, path) == 0);
}

static void await_load(struct loads *loads, int count, const char *part) {
  pthread_mutex_lock(&loads->lock);
  while (loads->count < count)
    pthread_cond_wait(&loads->changed, &loads->lock);
  if (loads->count != count || !strstr(loads->last, part))
    fprintf(stderr, "load %d: %s\n", loads->count, loads->last);
  EXPECT(loads->count == count && strstr(loads->last, part));
  pthread_mutex_unlock(&loads->lock);
}

void observe_loads(const char *path) {
#define WITH_LEVEL(level_) "\"values\":{\"Sound\":{\"Mixer\":{\"Level\":" #level_ "}}}}"
  struct loads loads = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, ""};
  EXPECT(fbtweak_observe_loads(NULL, NULL) == 0);
  EXPECT_ERROR("there is no function to call back");
  EXPECT(level() == 3);
  fbtweak_token token = fbtweak_observe_loads(note_load, &loads);
  EXPECT(token != 0);
  replace(path, "{" WITH_LEVEL(4));
  await_load(&loads, 1, "remote loaded 4");
  replace(path, "{\"problem\":\"404 Not Found\"," WITH_LEVEL(4));
  await_load(&loads, 2, "remote 404 Not Found 4");
  /* The same values again, after a failure. */
  replace(path, "{" WITH_LEVEL(4));
  await_load(&loads, 3, "remote loaded 4");
  replace(path, "<html>");
  await_load(&loads, 4, "it is not JSON");
  replace(path, "{" WITH_LEVEL(6));
  await_load(&loads, 5, "remote loaded 6");
  fbtweak_unobserve(token);
  replace(path, "{" WITH_LEVEL(7));
  while (level() != 7)
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  EXPECT(loads.count == 5);
}

static void note_limit(const fbtweak_change *change, void *context) {
  if (strcmp(fbtweak_name(change->tweak), "limit") != 0)
    return;
  fbtweak_value before = change->old_value, after = change->new_value;
  EXPECT(before.type == FBTWEAK_TYPE_INT64 && before.integer == 3);
  EXPECT(after.type == FBTWEAK_TYPE_STRING && strcmp(after.text, "x") == 0);
  atomic_fetch_add((atomic_int *)context, 1);
}

void observe_another_type(const char *path) {
  atomic_int calls = 0;
  EXPECT(fbtweak_observe(NULL, note_limit, note_limit, &calls) != 0);
  replace(path, "{\"values\":{\"Features\":{\"Echo\":{\"limit\":\"x\"}}}}");
  while (atomic_load(&calls) < 2)
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}
