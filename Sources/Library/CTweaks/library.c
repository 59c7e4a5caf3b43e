/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's interface for programs: a table of functions, and a note that locates it. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
/* Only the interface is needed from the header. */
#undef FB_TWEAK_ENABLED
#define FB_TWEAK_ENABLED 0
#include "library.h"

#include <dlfcn.h>
#include <fbtweak.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "ctweaks.h"

/* Written in Swift, in Sources/Library/Tweaks/CInterface. */
#define IN_SWIFT __attribute__((visibility("hidden")))
IN_SWIFT void fbtweak__image_opened(const void *address_inside);
IN_SWIFT void fbtweak__image_closed(const void *address_inside);
IN_SWIFT const fbtweak *fbtweak__handle_of_record(const void *record);
IN_SWIFT const fbtweak *fbtweak__find(const char *category, const char *collection,
                                      const char *name);
IN_SWIFT size_t fbtweak__walk(const char *category, const char *collection,
                              bool (*visit)(const fbtweak *tweak, void *context), void *context);
IN_SWIFT const char *fbtweak__source(const fbtweak *tweak);
IN_SWIFT int fbtweak__set(const fbtweak *tweak, const fbtweak_value *value);
IN_SWIFT int fbtweak__set_typed(const fbtweak *tweak, const char *text);
IN_SWIFT int fbtweak__reset(const fbtweak *tweak);
IN_SWIFT int fbtweak__reset_group(const char *category, const char *collection);
IN_SWIFT int fbtweak__run(const fbtweak *tweak);
IN_SWIFT int fbtweak__bind(const fbtweak *tweak, void *variable);
IN_SWIFT void fbtweak__unbind(void *variable);
IN_SWIFT fbtweak_token fbtweak__observe(fbtweak_queue *queue, const fbtweak *tweak,
                                        fbtweak_callback will_change, fbtweak_callback did_change,
                                        void *context);
IN_SWIFT fbtweak_token fbtweak__observe_loads(fbtweak_load_callback did_load, void *context);
IN_SWIFT void fbtweak__flush(void);
IN_SWIFT void fbtweak__unobserve(fbtweak_token token);
IN_SWIFT fbtweak_token fbtweak__run_in(fbtweak_queue *queue, const fbtweak *action);
IN_SWIFT fbtweak_queue *fbtweak__queue_make(void);
IN_SWIFT int fbtweak__queue_descriptor(const fbtweak_queue *queue);
IN_SWIFT size_t fbtweak__queue_deliver(fbtweak_queue *queue);
IN_SWIFT void fbtweak__queue_destroy(fbtweak_queue *queue);
IN_SWIFT const fbtweak *fbtweak__make(const fbtweak_declaration *declaration);
IN_SWIFT const fbtweak *fbtweak__make_action(const char *category, const char *collection,
                                             const char *name, void (*function)(void *context),
                                             void *context);
IN_SWIFT const fbtweak *fbtweak__make_monitor(const fbtweak_declaration *declaration);
IN_SWIFT int fbtweak__remove(const fbtweak *tweak);

void fbtweak__pass_gate(void *record) {
  fbtweak__pass(record);
}

/*
 * Wraps each function in the entry and exit of a call into the library. It fails at once in a
 * signal handler that has interrupted the library, or after that: this thread may hold the lock
 * that it needs. The handler may have called exit, and that a destructor of the program.
 */
#define ENTERED(result_, failure_, name_, parameters_, arguments_)                                 \
  static result_ entered_##name_ parameters_ {                                                     \
    if (fbtweak__exits_inside() || fbtweak__was_interrupted())                                     \
      return failure_;                                                                             \
    struct fbtweak__entry entry;                                                                   \
    fbtweak__enter(&entry);                                                                        \
    result_ result = fbtweak__##name_ arguments_;                                                  \
    fbtweak__leave(&entry);                                                                        \
    return result;                                                                                 \
  }
#define ENTERED_VOID(name_, parameters_, arguments_)                                               \
  static void entered_##name_ parameters_ {                                                        \
    if (fbtweak__exits_inside() || fbtweak__was_interrupted())                                     \
      return;                                                                                      \
    struct fbtweak__entry entry;                                                                   \
    fbtweak__enter(&entry);                                                                        \
    fbtweak__##name_ arguments_;                                                                   \
    fbtweak__leave(&entry);                                                                        \
  }
ENTERED_VOID(image_opened, (const void *address_inside), (address_inside))
ENTERED_VOID(image_closed, (const void *address_inside), (address_inside))
ENTERED(const fbtweak *, NULL, handle_of_record, (const void *record), (record))
ENTERED(const fbtweak *, NULL, find,
        (const char *category, const char *collection, const char *name),
        (category, collection, name))
ENTERED(size_t, 0, walk,
        (const char *category, const char *collection,
         bool (*visit)(const fbtweak *tweak, void *context), void *context),
        (category, collection, visit, context))
ENTERED(const char *, NULL, source, (const fbtweak *tweak), (tweak))
ENTERED(int, FBTWEAK_ABSENT, set, (const fbtweak *tweak, const fbtweak_value *value),
        (tweak, value))
ENTERED(int, FBTWEAK_ABSENT, set_typed, (const fbtweak *tweak, const char *text), (tweak, text))
ENTERED(int, FBTWEAK_ABSENT, reset, (const fbtweak *tweak), (tweak))
ENTERED(int, FBTWEAK_ABSENT, reset_group, (const char *category, const char *collection),
        (category, collection))
ENTERED(int, FBTWEAK_ABSENT, run, (const fbtweak *tweak), (tweak))
ENTERED(int, FBTWEAK_ABSENT, bind, (const fbtweak *tweak, void *variable), (tweak, variable))
ENTERED_VOID(unbind, (void *variable), (variable))
ENTERED(fbtweak_token, 0, observe,
        (fbtweak_queue * queue, const fbtweak *tweak, fbtweak_callback will_change,
         fbtweak_callback did_change, void *context),
        (queue, tweak, will_change, did_change, context))
ENTERED(fbtweak_token, 0, observe_loads, (fbtweak_load_callback did_load, void *context),
        (did_load, context))
ENTERED(fbtweak_token, 0, run_in, (fbtweak_queue * queue, const fbtweak *action), (queue, action))
ENTERED_VOID(flush, (void), ())
ENTERED_VOID(unobserve, (fbtweak_token token), (token))
ENTERED(fbtweak_queue *, NULL, queue_make, (void), ())
ENTERED(int, -1, queue_descriptor, (const fbtweak_queue *queue), (queue))
ENTERED(size_t, 0, queue_deliver, (fbtweak_queue * queue), (queue))
ENTERED_VOID(queue_destroy, (fbtweak_queue * queue), (queue))
ENTERED(const fbtweak *, NULL, make, (const fbtweak_declaration *declaration), (declaration))
ENTERED(const fbtweak *, NULL, make_monitor, (const fbtweak_declaration *declaration),
        (declaration))
ENTERED(const fbtweak *, NULL, make_action,
        (const char *category, const char *collection, const char *name,
         void (*function)(void *context), void *context),
        (category, collection, name, function, context))
ENTERED(int, FBTWEAK_ABSENT, remove, (const fbtweak *tweak), (tweak))

static pthread_key_t error_key;
static pthread_once_t error_once = PTHREAD_ONCE_INIT;
static void make_error_key(void) {
  pthread_key_create(&error_key, free);
}
void fbtweak__set_error(const char *message) {
  pthread_once(&error_once, make_error_key);
  free(pthread_getspecific(error_key));
  pthread_setspecific(error_key, strdup(message));
}
static const char *error(void) {
  pthread_once(&error_once, make_error_key);
  const char *message = pthread_getspecific(error_key);
  return message ? message : "";
}

/* Its size is set last: until then the table looks as if there were no library. */
__attribute__((visibility("hidden"))) struct fbtweak__library fbtweak__this_library = {
    .image_opened = entered_image_opened,
    .image_closed = entered_image_closed,
    .handle = entered_handle_of_record,
    .find = entered_find,
    .walk = entered_walk,
    .source = entered_source,
    .error = error,
    .set = entered_set,
    .set_text = entered_set_typed,
    .reset = entered_reset,
    .reset_group = entered_reset_group,
    .run = entered_run,
    .bind = entered_bind,
    .unbind = entered_unbind,
    .observe = entered_observe,
    .unobserve = entered_unobserve,
    .queue_make = entered_queue_make,
    .queue_descriptor = entered_queue_descriptor,
    .queue_deliver = entered_queue_deliver,
    .queue_destroy = entered_queue_destroy,
    .make = entered_make,
    .make_action = entered_make_action,
    .remove = entered_remove,
    .make_monitor = entered_make_monitor,
    .observe_loads = entered_observe_loads,
    .flush = entered_flush,
    .run_in = entered_run_in,
};

__asm__(".pushsection .note.fbtweak,\"aR\",%note\n"
        ".balign 4\n"
        ".4byte 8, 4, 2\n"
        ".asciz \"FBTweak\"\n"
        ".4byte fbtweak__this_library - .\n"
        ".popsection\n");

static bool offer(const struct fbtweak__image *image, void *context) {
  (void)context;
  if (image->library_slot)
    __atomic_store_n(image->library_slot, &fbtweak__this_library, __ATOMIC_RELEASE);
  return true;
}
void fbtweak__offer_library(void) {
  __atomic_store_n(&fbtweak__this_library.size, sizeof(fbtweak__this_library), __ATOMIC_RELEASE);
  fbtweak__each_image(offer, NULL);
}

static bool find_first_library(const struct fbtweak__image *image, void *first) {
  *(const struct fbtweak__library **)first = image->library;
  return !image->library;
}
bool fbtweak__is_first_library(void) {
  const struct fbtweak__library *first = NULL;
  fbtweak__each_image(find_first_library, &first);
  return !first || first == &fbtweak__this_library;
}

struct search {
  size_t index;     /* of the library's image */
  const char *path; /* NULL until it is found */
};
static bool find_this_image(const struct fbtweak__image *image, void *context) {
  struct search *search = context;
  uintptr_t address = (uintptr_t)&fbtweak__this_library;
  if (image->memory_start <= address && address < image->memory_stop) {
    search->path = image->path;
    return false;
  }
  search->index++;
  return true;
}
bool fbtweak__keep_library(void) {
  if (fbtweak__is_in_namespace())
    return false;
  struct search search = {0, NULL};
  fbtweak__each_image(find_this_image, &search);
  if (!search.path || search.index < fbtweak__count_lasting_images())
    return search.path;
  /* The handle is kept: closing it could unload others while they are being loaded. */
  return dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
}
