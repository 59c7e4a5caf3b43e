/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"

static void count(const fbtweak_change *change, void *context) {
  (void)change;
  ++*(int *)context;
}

void make_and_remove(void) {
  const char *const attributes[] = {"unit=ms", "doc=how long a note stays", NULL};
  fbtweak_declaration declaration = {
      .category = "Sound",
      .collection = "Envelope",
      .name = "Release",
      .default_value = {FBTWEAK_TYPE_DOUBLE, {.number = 120}},
      .minimum = {FBTWEAK_TYPE_DOUBLE, {.number = 1}},
      .maximum = {FBTWEAK_TYPE_DOUBLE, {.number = 5000}},
      .step = {FBTWEAK_TYPE_DOUBLE, {.number = 0.5}},
      .attributes = attributes,
  };
  const fbtweak *made = fbtweak_make(&declaration);
  EXPECT(made && made == fbtweak_find("Sound", "Envelope", "Release"));
  EXPECT(fbtweak_read_number(made, -1) == 120);
  EXPECT_TEXT(fbtweak_attribute(made, "unit"), "ms");
  EXPECT_TEXT(fbtweak_attribute(made, "doc"), "how long a note stays");
  fbtweak_value value;
  EXPECT(fbtweak_step(made, &value) && value.number == 0.5);
  EXPECT(!fbtweak_make(&declaration));
  EXPECT_ERROR("there is a tweak of this name already");

  double bound = 0;
  int changes = 0;
  EXPECT(fbtweak_bind(made, &bound) == FBTWEAK_OK);
  fbtweak_token token = fbtweak_observe(made, NULL, count, &changes);
  EXPECT(fbtweak_set_number(made, 9000) == FBTWEAK_CLAMPED && bound == 5000 && changes == 1);

  EXPECT(fbtweak_remove(made) == FBTWEAK_OK);
  EXPECT(!fbtweak_find("Sound", "Envelope", "Release"));
  EXPECT(fbtweak_read_number(made, -1) == 120 && bound == 5000);
  EXPECT(fbtweak_set_number(made, 2) == FBTWEAK_UNKNOWN);
  EXPECT(fbtweak_remove(made) == FBTWEAK_UNKNOWN);

  /* Created again it has the saved value, but earlier bindings no longer follow it. */
  EXPECT(fbtweak_make(&declaration) == made && fbtweak_read_number(made, -1) == 5000);
  fbtweak_set_number(made, 7);
  EXPECT(bound == 5000 && changes == 1);
  fbtweak_unobserve(token);

  fbtweak_labelled_value choices[] = {
      {{FBTWEAK_TYPE_INT32, {.integer = -1}}, "quiet"},
      {{FBTWEAK_TYPE_INT32, {.integer = 70000}}, NULL},
  };
  fbtweak_declaration chosen = {
      .category = "Sound",
      .collection = "Envelope",
      .name = "Curve",
      .default_value = {FBTWEAK_TYPE_INT32, {.integer = -1}},
      .choices = choices,
      .choice_count = 2,
  };
  const fbtweak *curve = fbtweak_make(&chosen);
  const char *label;
  EXPECT(fbtweak_choice(curve, 0, &value, &label) && value.integer == -1);
  EXPECT_TEXT(label, "quiet");
  EXPECT(fbtweak_choice(curve, 1, &value, &label) && value.integer == 70000 && !label);
  EXPECT(!fbtweak_choice(curve, 2, &value, &label));
  EXPECT(fbtweak_set_integer(curve, 5) == FBTWEAK_REFUSED);
  EXPECT(fbtweak_set_integer(curve, 70000) == FBTWEAK_OK);
  EXPECT(fbtweak_set_text(curve, "quiet") == FBTWEAK_OK && fbtweak_read_integer(curve, 0) == -1);

  chosen.name = "Texts";
  chosen.default_value = (fbtweak_value){FBTWEAK_TYPE_STRING, {.text = "b"}};
  choices[0] = (fbtweak_labelled_value){{FBTWEAK_TYPE_STRING, {.text = ""}}, "nothing"};
  choices[1] = (fbtweak_labelled_value){{FBTWEAK_TYPE_STRING, {.text = "b"}}, NULL};
  const fbtweak *text = fbtweak_make(&chosen);
  EXPECT(fbtweak_choice(text, 0, &value, &label) && *value.text == 0);
  EXPECT_TEXT(label, "nothing");
  EXPECT(fbtweak_choice(text, 1, &value, NULL));
  EXPECT_TEXT(value.text, "b");

  chosen.name = "Impossible";
  chosen.default_value.text = "c";
  EXPECT(!fbtweak_make(&chosen));
  EXPECT_ERROR("Sound/Envelope/Impossible");
  declaration.name = "Impossible";
  declaration.default_value.number = 6000;
  EXPECT(!fbtweak_make(&declaration));
  declaration.default_value = (fbtweak_value){FBTWEAK_TYPE_BOOL, {.boolean = true}};
  EXPECT(!fbtweak_make(&declaration));
  declaration.category = NULL;
  EXPECT(!fbtweak_make(&declaration) && !fbtweak_make(NULL));
  chosen.choice_count = SIZE_MAX;
  EXPECT(!fbtweak_make(&chosen));
  EXPECT_ERROR("choice_count is too large");
}

static void increase(void *context) {
  ++*(int *)context;
}
static void change_level(void *tweak) {
  fbtweak_set_integer(tweak, 3);
}

void run_actions(void) {
  int runs = 0;
  const fbtweak *action = fbtweak_make_action("Sound", "Actions", "Count", increase, &runs);
  EXPECT(action && fbtweak_type(action) == FBTWEAK_TYPE_ACTION);
  EXPECT(fbtweak_run(action) == FBTWEAK_OK && fbtweak_run(action) == FBTWEAK_OK && runs == 2);
  EXPECT(fbtweak_set_integer(action, 1) == FBTWEAK_REFUSED);
  EXPECT(fbtweak_set_text(action, "x") == FBTWEAK_REFUSED);
  EXPECT(fbtweak_reset(action) == FBTWEAK_REFUSED);
  int variable = 0;
  EXPECT(fbtweak_bind(action, &variable) == FBTWEAK_REFUSED);
  fbtweak_value value;
  EXPECT(!fbtweak_read(action, &value) && !fbtweak_default(action, &value));
  EXPECT(fbtweak_remove(action) == FBTWEAK_OK && fbtweak_run(action) == FBTWEAK_UNKNOWN);

  const fbtweak *level_tweak = fbtweak_find("Sound", "Mixer", "Level");
  action = fbtweak_make_action("Sound", "Actions", "Set", change_level, (void *)level_tweak);
  EXPECT(fbtweak_run(action) == FBTWEAK_OK && level() == 3);
  EXPECT(!fbtweak_make_action("Sound", "Actions", "None", NULL, NULL));
  EXPECT(!fbtweak_make_action("Sound", NULL, "None", increase, NULL));
}

/* A forked child has its own tweaks. */
void keep_after_fork(void) {
  const fbtweak *tweak = fbtweak_find("Sound", "Mixer", "Level");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    EXPECT(fbtweak_read_integer(tweak, -1) == 5);
    EXPECT(fbtweak_set_integer(tweak, 8) == FBTWEAK_OK && level() == 8);
    exit(0);
  }
  int status;
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT(level() == 5);
}
