/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs of every release have been built for: nothing of it may move, and new members go to
 * the end. */
#include <fbtweak.h>
#include <stddef.h>

#if defined(__cplusplus)
#  define HOLDS(condition_) static_assert(condition_, #  condition_)
#else
#  define HOLDS(condition_) _Static_assert(condition_, #  condition_)
#endif
#define IS_AT(type_, member_, offset_) HOLDS(offsetof(type_, member_) == (offset_))

IS_AT(struct fbtweak, size, 0);
IS_AT(struct fbtweak, version, 4);
IS_AT(struct fbtweak, kind, 5);
IS_AT(struct fbtweak, type, 6);
IS_AT(struct fbtweak, flags, 7);
IS_AT(struct fbtweak, cell, 8);
IS_AT(struct fbtweak, initial, 16);
IS_AT(struct fbtweak, minimum, 24);
IS_AT(struct fbtweak, maximum, 32);
IS_AT(struct fbtweak, step, 40);
HOLDS(sizeof(struct fbtweak) == 48);

IS_AT(struct fbtweak__gate, fbtweak__size, 0);
IS_AT(struct fbtweak__gate, fbtweak__version, 4);
IS_AT(struct fbtweak__gate, fbtweak__kind, 5);
IS_AT(struct fbtweak__gate, fbtweak__state, 8);
IS_AT(struct fbtweak__gate, capacity, 16);
IS_AT(struct fbtweak__gate, fbtweak__stores, 20);
IS_AT(struct fbtweak__gate, thread, 24);
IS_AT(struct fbtweak__gate, strangers, 32);
HOLDS(sizeof(struct fbtweak__gate) == 48);
IS_AT(struct fbtweak__store, fbtweak__cell, 0);
IS_AT(struct fbtweak__store, fbtweak__bits, 8);
IS_AT(struct fbtweak__store, fbtweak__size, 16);
HOLDS(sizeof(struct fbtweak__store) == 24);

IS_AT(struct fbtweak__library, size, 0 * sizeof(void *));
IS_AT(struct fbtweak__library, image_opened, 1 * sizeof(void *));
IS_AT(struct fbtweak__library, image_closed, 2 * sizeof(void *));
IS_AT(struct fbtweak__library, handle, 3 * sizeof(void *));
IS_AT(struct fbtweak__library, find, 4 * sizeof(void *));
IS_AT(struct fbtweak__library, walk, 5 * sizeof(void *));
IS_AT(struct fbtweak__library, source, 6 * sizeof(void *));
IS_AT(struct fbtweak__library, error, 7 * sizeof(void *));
IS_AT(struct fbtweak__library, set, 8 * sizeof(void *));
IS_AT(struct fbtweak__library, set_text, 9 * sizeof(void *));
IS_AT(struct fbtweak__library, reset, 10 * sizeof(void *));
IS_AT(struct fbtweak__library, reset_group, 11 * sizeof(void *));
IS_AT(struct fbtweak__library, run, 12 * sizeof(void *));
IS_AT(struct fbtweak__library, bind, 13 * sizeof(void *));
IS_AT(struct fbtweak__library, unbind, 14 * sizeof(void *));
IS_AT(struct fbtweak__library, observe, 15 * sizeof(void *));
IS_AT(struct fbtweak__library, unobserve, 16 * sizeof(void *));
IS_AT(struct fbtweak__library, queue_make, 17 * sizeof(void *));
IS_AT(struct fbtweak__library, queue_descriptor, 18 * sizeof(void *));
IS_AT(struct fbtweak__library, queue_deliver, 19 * sizeof(void *));
IS_AT(struct fbtweak__library, queue_destroy, 20 * sizeof(void *));
IS_AT(struct fbtweak__library, make, 21 * sizeof(void *));
IS_AT(struct fbtweak__library, make_action, 22 * sizeof(void *));
IS_AT(struct fbtweak__library, remove, 23 * sizeof(void *));
IS_AT(struct fbtweak__library, make_monitor, 24 * sizeof(void *));
IS_AT(struct fbtweak__library, observe_loads, 25 * sizeof(void *));
IS_AT(struct fbtweak__library, flush, 26 * sizeof(void *));
IS_AT(struct fbtweak__library, run_in, 27 * sizeof(void *));

IS_AT(fbtweak_change, tweak, 0);
IS_AT(fbtweak_change, old_value, 8);
IS_AT(fbtweak_change, new_value, 24);
IS_AT(fbtweak_change, source, 40);
HOLDS(sizeof(fbtweak_change) == 48);

IS_AT(fbtweak_load, provider, 0);
IS_AT(fbtweak_load, problem, 8);
HOLDS(sizeof(fbtweak_load) == 16);

IS_AT(fbtweak_labelled_value, value, 0);
IS_AT(fbtweak_labelled_value, label, 16);
HOLDS(sizeof(fbtweak_labelled_value) == 24);

IS_AT(fbtweak_declaration, category, 0);
IS_AT(fbtweak_declaration, collection, 8);
IS_AT(fbtweak_declaration, name, 16);
IS_AT(fbtweak_declaration, default_value, 24);
IS_AT(fbtweak_declaration, minimum, 40);
IS_AT(fbtweak_declaration, maximum, 56);
IS_AT(fbtweak_declaration, step, 72);
IS_AT(fbtweak_declaration, choices, 88);
IS_AT(fbtweak_declaration, choice_count, 96);
IS_AT(fbtweak_declaration, attributes, 104);
HOLDS(sizeof(fbtweak_declaration) == 112);

HOLDS(sizeof(fbtweak_value) == 16);
HOLDS(sizeof(fbtweak_color) == 4);
HOLDS(sizeof(fbtweak_token) == 8);

HOLDS(FBTWEAK_KIND_PADDING == 0);
HOLDS(FBTWEAK_KIND_VALUE == 1);
HOLDS(FBTWEAK_KIND_ACTION == 2);
HOLDS(FBTWEAK_KIND_MONITOR == 3);
HOLDS(FBTWEAK_HAS_MINIMUM == 1);
HOLDS(FBTWEAK_HAS_MAXIMUM == 2);
HOLDS(FBTWEAK_HAS_STEP == 4);
HOLDS(FBTWEAK_HAS_CHOICES == 8);
HOLDS(FBTWEAK_OK == 0);
HOLDS(FBTWEAK_CLAMPED == 1);
HOLDS(FBTWEAK_ABSENT == -1);
HOLDS(FBTWEAK_UNKNOWN == -2);
HOLDS(FBTWEAK_REFUSED == -3);
HOLDS(FBTWEAK_RECORD_VERSION == 1);
HOLDS(FBTWEAK_TYPE_BOOL == 1);
HOLDS(FBTWEAK_TYPE_INT8 == 2);
HOLDS(FBTWEAK_TYPE_INT16 == 3);
HOLDS(FBTWEAK_TYPE_INT32 == 4);
HOLDS(FBTWEAK_TYPE_INT64 == 5);
HOLDS(FBTWEAK_TYPE_UINT8 == 6);
HOLDS(FBTWEAK_TYPE_UINT16 == 7);
HOLDS(FBTWEAK_TYPE_UINT32 == 8);
HOLDS(FBTWEAK_TYPE_UINT64 == 9);
HOLDS(FBTWEAK_TYPE_FLOAT == 10);
HOLDS(FBTWEAK_TYPE_DOUBLE == 11);
HOLDS(FBTWEAK_TYPE_STRING == 12);
HOLDS(FBTWEAK_TYPE_COLOR == 13);
HOLDS(FBTWEAK_TYPE_ACTION == 14);
