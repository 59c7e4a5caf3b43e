/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <poll.h>

#include "scenarios.h"

struct log {
  int count;
  fbtweak_change last;
};
static void note(const fbtweak_change *change, void *context) {
  struct log *log = context;
  log->count++;
  log->last = *change;
}
static bool is_readable(fbtweak_queue *queue) {
  struct pollfd descriptor = {.fd = fbtweak_queue_descriptor(queue), .events = POLLIN};
  return poll(&descriptor, 1, 0) == 1;
}

void queue_changes(void) {
  const fbtweak *level = fbtweak_find("Sound", "Mixer", "Level");
  const fbtweak *gain = fbtweak_find("Sound", "Mixer", "Gain");
  fbtweak_queue *queue = fbtweak_queue_make();
  EXPECT(queue && fcntl(fbtweak_queue_descriptor(queue), F_GETFD) == FD_CLOEXEC);
  struct log one = {0}, all = {0};
  fbtweak_token token = fbtweak_observe_in(queue, level, note, &one);
  EXPECT(token && fbtweak_observe_in(queue, NULL, note, &all));
  EXPECT(!is_readable(queue) && fbtweak_queue_deliver(queue) == 0);

  fbtweak_set_integer(level, 6);
  EXPECT(one.count == 0 && is_readable(queue));
  for (int i = 0; i <= 9; i++)
    fbtweak_set_integer(level, i);
  fbtweak_set_number(gain, 1);
  EXPECT(fbtweak_queue_deliver(queue) == 3 && !is_readable(queue));
  EXPECT(one.count == 1 && one.last.old_value.integer == 5 && one.last.new_value.integer == 9);
  EXPECT(all.count == 2 && all.last.tweak == gain && all.last.new_value.number == 1);

  /* A value changed and changed back is not a change. */
  fbtweak_set_integer(level, 1);
  fbtweak_set_integer(level, 9);
  EXPECT(fbtweak_queue_deliver(queue) == 0);

  /* Changes queued for a removed observer are not delivered. */
  fbtweak_set_integer(level, 2);
  fbtweak_unobserve(token);
  EXPECT(fbtweak_queue_deliver(queue) == 1 && one.count == 1 && all.count == 3);

  fbtweak_set_integer(level, 3);
  fbtweak_queue_destroy(queue);
  fbtweak_set_integer(level, 4);
  EXPECT(all.count == 3);
  fbtweak_queue_destroy(NULL);
  EXPECT(fbtweak_queue_descriptor(NULL) == -1 && fbtweak_queue_deliver(NULL) == 0);
}
