/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"
#include "started.h"
#include "tools.h"
#include "values.h"

static bool lives(struct process *self) {
  for (int i = 0; i < 10; i++) {
    CHECK(verify(&self->right, "while it lives"));
    pause_for(50);
  }
  return verify(&self->right, "at the end");
}

static bool ends(struct process *self) {
  return verify(&self->right, "at once");
}

/* Other content of the file is preserved. */
static bool keeps_others(struct process *self, const char *moment) {
  return !has_overrides(self->state) || (wait_for_file("\"Slot20\":1020", true, moment) &&
                                         wait_for_file("\"Nobody\":{\"has\"", true, moment));
}

static bool set(struct process *self) {
  CHECK(fbtweak_set_integer(slot_handle(3), 77) == FBTWEAK_OK);
  self->right.slots[3] = 77;
  CHECK(verify(&self->right, "after a set at once"));
  pause_for(A_WHILE);
  CHECK(verify(&self->right, "a while after a set"));
  CHECK(fbtweak_set_integer(slot_handle(4), 44) == FBTWEAK_OK);
  CHECK(fbtweak_set_text(fbtweak_find("Start", "Values", "Ratio"), "0.75") == FBTWEAK_OK);
  self->right.slots[4] = 44;
  self->right.ratio = 0.75;
  CHECK(verify(&self->right, "after a set"));
  CHECK(wait_for_file("\"Slot3\":77", true, "set"));
  CHECK(wait_for_file("\"Slot4\":44", true, "set"));
  CHECK(wait_for_file("\"Ratio\":0.75", true, "set"));
  CHECK(keeps_others(self, "set"));
  pause_for(100);
  return verify(&self->right, "after the file was written");
}

static bool set_by_command(struct process *self) {
  pause_for(A_WHILE);
  CHECK(tweak(self->tweak, "set", "Start/Slots/Slot 3", "77", NULL));
  self->right.slots[3] = 77;
  CHECK(wait_for(&self->right, "after tweak set"));
  CHECK(tweak(self->tweak, "set", "Start/Slots/Slot 4", "44", "Start/Slots/Slot 5", "55", NULL));
  self->right.slots[4] = 44;
  self->right.slots[5] = 55;
  CHECK(wait_for(&self->right, "after tweak set of two"));
  CHECK(wait_for_file("\"Slot5\":55", true, "tweak set"));
  CHECK(keeps_others(self, "tweak set"));
  return verify(&self->right, "after the file was written");
}

/* Only values unknown to the process are left. */
static bool forgets_all(const char *moment) {
  const char *const known[] = {"\"Slot3\"", "\"Slot20\"", "\"limit2\"", "\"Flag\"", "\"\xC3\x84\""};
  for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
    if (!wait_for_file(known[i], false, moment))
      return false;
  return true;
}

/* The same whether the program follows its file or not. */
static bool resets(struct process *self) {
  CHECK(fbtweak_reset(slot_handle(2)) == FBTWEAK_OK);
  self->right.slots[2] = self->base.slots[2];
  CHECK(verify(&self->right, "after a reset"));
  /* A corrupt file stays until something is set. */
  CHECK(self->state == CORRUPT || wait_for_file("\"Slot2\"", false, "reset"));
  CHECK(keeps_others(self, "reset"));
  CHECK(fbtweak_set_integer(slot_handle(3), 77) == FBTWEAK_OK);
  self->right.slots[3] = 77;
  CHECK(verify(&self->right, "after a reset and a set"));
  CHECK(wait_for_file("\"Slot3\":77", true, "reset"));
  CHECK(fbtweak_reset_collection("Start", "Values") == FBTWEAK_OK);
  struct values slots = self->base;
  memcpy(slots.slots, self->right.slots, sizeof(slots.slots));
  memcpy(slots.limits, self->right.limits, sizeof(slots.limits));
  slots.kelvin = self->right.kelvin;
  slots.umlaut = self->right.umlaut;
  slots.other = self->right.other;
  CHECK(verify(&slots, "after a reset of a collection"));
  CHECK(fbtweak_reset_all() == FBTWEAK_OK);
  CHECK(verify(&self->base, "after a reset of all"));
  CHECK(forgets_all("reset of all"));
  pause_for(100);
  return verify(&self->base, "after the file was written");
}
static bool reset(struct process *self) {
  pause_for(A_WHILE);
  return resets(self);
}

static bool reset_by_command(struct process *self) {
  pause_for(A_WHILE);
  if (!has_overrides(self->state))
    CHECK(fbtweak_set_integer(slot_handle(2), 22) == FBTWEAK_OK);
  CHECK(tweak(self->tweak, "reset", "Start/Slots/Slot 2", NULL));
  self->right.slots[2] = self->base.slots[2];
  CHECK(wait_for(&self->right, "after tweak reset"));
  CHECK(tweak(self->tweak, "reset", "--all", NULL));
  CHECK(wait_for(&self->base, "after tweak reset --all"));
  CHECK(forgets_all("tweak reset --all"));
  return verify(&self->base, "after the file was written");
}

/* With TWEAKS_WATCH=0, which is read at the start. */
static bool unwatched(struct process *self) {
  CHECK(resets(self));
  pause_for(A_WHILE);
  CHECK(fbtweak_set_integer(slot_handle(6), 66) == FBTWEAK_OK);
  self->base.slots[6] = 66;
  CHECK(verify(&self->base, "after a set that nobody watches"));
  return wait_for_file("\"Slot6\":66", true, "unwatched");
}

struct seen {
  int count;
  int64_t last;
};
static void see(const fbtweak_change *change, void *context) {
  struct seen *seen = context;
  __atomic_store_n(&seen->last, fbtweak_read_integer(change->tweak, -1), __ATOMIC_RELEASE);
  __atomic_add_fetch(&seen->count, 1, __ATOMIC_RELEASE);
}

static bool watched(struct process *self) {
  struct seen one = {0, 0}, all = {0, 0}, queued = {0, 0};
  int bound = -1;
  const fbtweak *third = slot_handle(3);
  fbtweak_token of_one = fbtweak_observe(third, NULL, see, &one);
  fbtweak_token of_all = fbtweak_observe(NULL, NULL, see, &all);
  fbtweak_queue *queue = fbtweak_queue_make();
  CHECK(of_one && of_all && queue && fbtweak_observe_in(queue, third, see, &queued));
  CHECK(fbtweak_bind(slot_handle(2), &bound) == FBTWEAK_OK);
  CHECK(bound == self->right.slots[2]);

  int connection = connect_to_self();
  CHECK(connection >= 0);
  CHECK(ask(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"list\"}",
            "\"Start/Slots/Slot 31\""));
  CHECK(ask(connection, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"subscribe\"}", "\"id\":2"));
  CHECK(fbtweak_set_integer(third, 77) == FBTWEAK_OK);
  self->right.slots[3] = 77;
  CHECK(verify(&self->right, "after a set"));
  CHECK(one.count == 1 && one.last == 77 && all.count == 1);
  CHECK(fbtweak_queue_deliver(queue) == 1 && queued.last == 77);
  CHECK(expect(connection, "\"newValue\":77"));

  /* The answer and the change arrive in any order. */
  CHECK(ask(connection,
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"set\",\"params\":"
            "{\"tweak\":\"Start/Slots/Slot 2\",\"value\":22}}",
            "\"newValue\":22"));
  self->right.slots[2] = 22;
  CHECK(wait_for(&self->right, "after a client has set"));
  CHECK(__atomic_load_n(&bound, __ATOMIC_RELAXED) == 22);
  CHECK(ask(connection,
            "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"reset\",\"params\":"
            "{\"tweak\":\"Start/Slots/Slot 2\"}}",
            "\"oldValue\":22"));
  self->right.slots[2] = self->base.slots[2];
  CHECK(wait_for(&self->right, "after a client has reset"));
  fbtweak_unobserve(of_one);
  fbtweak_unobserve(of_all);
  fbtweak_queue_destroy(queue);
  fbtweak_unbind(&bound);
  close(connection);
  return verify(&self->right, "when nobody watches any more");
}

static bool edited(struct process *self) {
  struct seen all = {0, 0};
  pause_for(A_WHILE);
  fbtweak_token of_all = fbtweak_observe(NULL, NULL, see, &all);
  CHECK(of_all);
  CHECK(replace(overrides_path(),
                "{\"Start\": {\"Slots\": {\"Slot 3\": 2003, \"Slot 4\": 2004}}, \"Other\": 1}"));
  struct values right = self->base;
  right.slots[3] = 2003;
  right.slots[4] = 2004;
  CHECK(wait_for(&right, "after an edit"));
  if (self->state == PROVIDERS) {
    CHECK(replace(beside("local.json"), "{\"Limits\": {\"limit3\": {\"Value\": 603}}}"));
    for (int i = 0; i < LIMITS; i++)
      self->base.limits[i] = i == 3 ? 603 : i;
    memcpy(right.limits, self->base.limits, sizeof(right.limits));
    CHECK(wait_for(&right, "after an edit of the variables"));
  }
  if (self->state == FEATURES) {
    CHECK(replace(beside("features.json"), "{\"default\": {\"search\": {\"enabled\": true}}, "
                                           "\"beta\": {\"inherits_from\": \"default\"}}"));
    self->base.history = right.history = false;
    CHECK(wait_for(&right, "after an edit of the features"));
  }
  CHECK(fbtweak_set_integer(slot_handle(5), 55) == FBTWEAK_OK);
  right.slots[5] = 55;
  CHECK(verify(&right, "after an edit and a set"));
  CHECK(wait_for_file("\"Slot5\":55", true, "edited"));
  CHECK(wait_for_file("\"Slot3\":2003", true, "edited"));
  CHECK(replace(overrides_path(), "{}"));
  CHECK(wait_for(&self->base, "after all was taken out"));
  /* This waits for running calls, which use the address of a variable here. */
  fbtweak_unobserve(of_all);
  CHECK(all.count > 0);
  return true;
}

static bool child_sets(struct process *self) {
  CHECK(verify(&self->right, "in a child"));
  CHECK(fbtweak_set_integer(slot_handle(6), 66) == FBTWEAK_OK);
  self->right.slots[6] = 66;
  return verify(&self->right, "in a child that has set");
}
static bool child_resets(struct process *self) {
  CHECK(verify(&self->right, "in a later child"));
  CHECK(fbtweak_reset(slot_handle(2)) == FBTWEAK_OK);
  self->right.slots[2] = self->base.slots[2];
  return verify(&self->right, "in a child that has reset");
}
static bool forks_into(bool (*does)(struct process *self), struct process *self) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0)
    exit(does(self) ? 0 : 1);
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    complain("a child ended with %#x", (unsigned)status);
  return status == 0;
}
static bool forks(struct process *self) {
  CHECK(forks_into(child_sets, self));
  /* The child has written it. */
  self->right.slots[6] = 66;
  CHECK(wait_for(&self->right, "after a child has set"));
  CHECK(forks_into(child_resets, self));
  self->right.slots[2] = self->base.slots[2];
  CHECK(wait_for(&self->right, "after a child has reset"));
  CHECK(keeps_others(self, "forks"));
  pause_for(A_WHILE);
  return verify(&self->right, "after its children");
}

static bool makes(struct process *self) {
  fbtweak_declaration declaration = {.category = "Start",
                                     .collection = "Slots",
                                     .name = "Made",
                                     .default_value = {FBTWEAK_TYPE_INT32, {.integer = 9}}};
  pause_for(A_WHILE);
  const fbtweak *made = fbtweak_make(&declaration);
  CHECK(made && fbtweak_find("Start", "Slots", "Made") == made);
  CHECK(fbtweak_read_integer(made, 0) ==
        (has_overrides(self->state) && self->state != FEW ? 90 : 9));
  CHECK(!fbtweak_make(&declaration));
  CHECK(fbtweak_set_integer(made, 91) == FBTWEAK_OK && fbtweak_read_integer(made, 0) == 91);
  CHECK(fbtweak_reset(made) == FBTWEAK_OK && fbtweak_read_integer(made, 0) == 9);
  CHECK(fbtweak_remove(made) == FBTWEAK_OK && !fbtweak_find("Start", "Slots", "Made"));
  CHECK(wait_for_file("\"Made\"", false, "makes"));
  CHECK(keeps_others(self, "makes"));
  return verify(&self->right, "after a tweak was made and removed");
}

static bool presets(struct process *self) {
  CHECK(main_uses_presets());
  CHECK(verify(&self->right, "after the main function has used presets"));
  pause_for(A_WHILE);
  CHECK(tweak(self->tweak, "preset save", "As it was", NULL));
  CHECK(fbtweak_reset(slot_handle(20)) == FBTWEAK_OK);
  CHECK(fbtweak_set_integer(slot_handle(3), 77) == FBTWEAK_OK);
  CHECK(tweak(self->tweak, "preset diff", "As it was", NULL));
  CHECK(tweak(self->tweak, "preset load", "--reset-others", "As it was", NULL));
  CHECK(wait_for(&self->right, "after a preset was loaded"));
  CHECK(tweak(self->tweak, "export", NULL));
  CHECK(tweak(self->tweak, "list", NULL));
  CHECK(tweak(self->tweak, "explain", "Start/Slots/Slot 20", NULL));
  return verify(&self->right, "after presets");
}

/* Runs until it is killed. */
static bool counts(struct process *self) {
  for (int i = 1; i < 1000000; i++)
    CHECK(fbtweak_set_integer(slot_handle(3), i) == FBTWEAK_OK);
  return self != NULL;
}

/* Runs until it is told to end, as a controlled program. */
static bool follows(struct process *self) {
  const char *text;
  while ((text = fbtweak_read_text(fbtweak_find("Start", "Values", "Text"), "")) &&
         strcmp(text, "end") != 0)
    pause_for(1);
  return self != NULL;
}

static const struct {
  const char *name;
  bool (*run)(struct process *self);
  /* Whether the files may differ from those of the state, because the program is restarted. */
  bool is_started_again;
} scenarios[] = {
    {"lives", lives, false},
    {"ends", ends, false},
    {"set", set, false},
    {"set-by-command", set_by_command, false},
    {"reset", reset, false},
    {"reset-by-command", reset_by_command, false},
    {"unwatched", unwatched, false},
    {"watched", watched, false},
    {"edited", edited, false},
    {"forks", forks, false},
    {"makes", makes, false},
    {"presets", presets, false},
    {"counts", counts, true},
    {"follows", follows, true},
    {"soaks", soaks, false},
};

/*
 * Changes the seeds of Swift's hashing. With a shared Swift runtime they are set before the library
 * is loaded, so hashes computed before `main` happen to stay valid. This invalidates them, as does
 * a runtime that sets the seeds after the library's constructor.
 */
static bool change_seeds(void) {
  struct {
    uint64_t seeds[2];
    bool is_deterministic;
  } *parameters = dlsym(RTLD_DEFAULT, "_swift_stdlib_Hashing_parameters");
  if (!parameters)
    complain("no seeds of hashing");
  else
    for (int i = 0; i < 2; i++)
      parameters->seeds[i] = ~parameters->seeds[i];
  return parameters != NULL;
}

/* Waits until all changes are in the file; an earlier edit would be lost. */
static bool has_written(void) {
  int before = slot(31);
  return fbtweak_set_integer(slot_handle(31), 99999) == FBTWEAK_OK &&
         wait_for_file("\"Slot31\":99999", true, "at the start") &&
         fbtweak_reset(slot_handle(31)) == FBTWEAK_OK &&
         wait_for_file("\"Slot31\"", false, "at the start") && slot(31) == before;
}

/* Filled by constructors, so it must not need one itself. */
static int (*checked_first[8])(void);
static int first_count;
void started_check_first(int (*is_right)(void)) {
  if (first_count < 8)
    checked_first[first_count++] = is_right;
}

int started_main(int count, char **arguments) {
  if (count != 4 || state_named(arguments[1]) == UNKNOWN_STATE) {
    fprintf(stderr, "usage: started STATE SCENARIO TWEAK\n");
    return 64;
  }
  if (getenv("STARTED_WITH_OTHER_SEEDS") && !change_seeds())
    return 64;
  if (strcmp(arguments[2], "unwatched") == 0 && !getenv("TWEAKS_WATCH")) {
    setenv("TWEAKS_WATCH", "0", 1);
    execv("/proc/self/exe", arguments);
  }
  enum state state = state_named(arguments[1]);
  struct process self = {state, arguments[3], values_in(state, true), values_in(state, false)};
  for (int i = 0; i < first_count; i++)
    if (!checked_first[i]())
      return 1;
  if (first_count > 0 && !has_written())
    return 1;
  for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
    if (strcmp(scenarios[i].name, arguments[2]) != 0)
      continue;
    bool is_right = scenarios[i].is_started_again || verify(&self.right, "at the start");
    return is_right && scenarios[i].run(&self) ? 0 : 1;
  }
  fprintf(stderr, "there is no scenario %s\n", arguments[2]);
  return 64;
}
