/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses what a program can use of fbtweak.h, in C and C++. Each release has it built with its own
 * header. With TABLE_SIZE it runs as with the library of the release whose table had this size. */
#include <fbtweak.h>
#include <stdio.h>
#include <unistd.h>

#if defined(TABLE_SIZE)
#  include <stdlib.h>
#  include <sys/mman.h>

/* Cuts the table off. A call of a function behind the end crashes. */
static void cut_table(void) {
  char *table = (char *)fbtweak__current_library();
  size_t page = (size_t)sysconf(_SC_PAGESIZE), size = table ? *(size_t *)table : 0;
  char *start = (char *)((uintptr_t)table & ~(page - 1));
  if (size < TABLE_SIZE ||
      mprotect(start, (size_t)(table - start) + size, PROT_READ | PROT_WRITE) != 0)
    exit(2);
  *(size_t *)table = TABLE_SIZE;
  for (size_t offset = TABLE_SIZE; offset < size; offset++)
    table[offset] = 0;
}
#else
static void cut_table(void) {}
#endif

FBTweakApplication("released");

static int actions, changes;
static void act(void) {
  actions++;
}
static void count(const fbtweak_change *change, void *context) {
  (void)context;
  changes += (int)change->new_value.integer;
}
static bool visit(const fbtweak *tweak, void *context) {
  (void)tweak;
  ++*(int *)context;
  return true;
}
FBTweakAction("Released", "Actions", "Act", act);

int main(int argc, char **argv) {
  cut_table();
  bool flag = FBTweakValue("Released", "Values", "Flag", false, FBTweakDescription("a flag"));
  int integer = FBTweakValue("Released", "Values", "Integer", 3, 1, 9, FBTweakStep(2));
  double number = FBTweakValue("Released", "Values", "Number", 1.5, 0, 10, FBTweakUnit("m"));
  const char *text =
      FBTweakValue("Released", "Values", "Text", "a", FBTweakChoices("a", ("b", "B")));
  fbtweak_color color = FBTweakValue("Released", "Values", "Color", FBTweakRGBA(1, 2, 3, 4));
  FBTweakMonitor("Released", "State", "Level", number, 0, 10);
  printf("%d %d %g %s %d\n", flag, integer, number, text, color.red);
  fflush(stdout);
  (void)argv;
  while (argc > 1)
    pause();

  static int bound;
  FBTweakBind(bound, "Released", "Calls", "Bound", 1, 0, 9);
  const fbtweak *tweak = fbtweak_find("Released", "Calls", "Bound");
  fbtweak_token token = fbtweak_observe(tweak, 0, count, 0);
  int clamped = fbtweak_set_integer(tweak, 99);
  printf("%d %d %d %s\n", clamped, bound, changes,
         fbtweak_source(tweak) ? fbtweak_source(tweak) : "-");
  fbtweak_unobserve(token);
  int reset = fbtweak_reset(tweak);
  FBTweakUnbind(bound);
  int ran = fbtweak_run(fbtweak_find("Released", "Actions", "Act"));
  fbtweak_queue *queue = fbtweak_queue_make();
  token = queue ? fbtweak_observe_in(queue, tweak, count, 0) : 0;
  fbtweak_set_integer(tweak, 5);
  size_t delivered = queue ? fbtweak_queue_deliver(queue) : 0;
  fbtweak_reset(tweak);
  fbtweak_queue_destroy(queue);
  printf("%d %d %d %d %d %d\n", reset, bound, ran, actions, (int)delivered, changes);

  static fbtweak_declaration empty;
  fbtweak_declaration declaration = empty;
  declaration.category = "Released";
  declaration.collection = declaration.name = "Made";
  declaration.default_value.type = FBTWEAK_TYPE_INT32;
  declaration.default_value.integer = 7;
  const fbtweak *made = fbtweak_make(&declaration);
  int visited = 0, walked = (int)fbtweak_walk("Released", 0, visit, &visited);
  printf("%d %d %d\n", (int)fbtweak_read_integer(made, -1), walked, visited);
  printf("%d\n", fbtweak_remove(made));
  fbtweak_flush();
  return 0;
}
