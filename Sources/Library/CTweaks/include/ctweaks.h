/*
 * ctweaks.h: what the Tweaks library needs and Swift cannot say. Not for programs: it may change
 * with every version.
 */
#ifndef CTWEAKS_H
#define CTWEAKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fbtweak__library;

/* A cell, or its leading bytes, read and written with one relaxed atomic access. */
#define FBTWEAK__ACCESSORS(suffix_, type_)                                                         \
  static inline __attribute__((always_inline)) type_ fbtweak__load_##suffix_(const type_ *cell) {  \
    return __atomic_load_n(cell, __ATOMIC_RELAXED);                                                \
  }                                                                                                \
  static inline                                                                                    \
      __attribute__((always_inline)) void fbtweak__store_##suffix_(type_ *cell, type_ value) {     \
    __atomic_store_n(cell, value, __ATOMIC_RELAXED);                                               \
  }
FBTWEAK__ACCESSORS(bool, bool)
FBTWEAK__ACCESSORS(8, uint8_t)
FBTWEAK__ACCESSORS(16, uint16_t)
FBTWEAK__ACCESSORS(32, uint32_t)
FBTWEAK__ACCESSORS(64, uint64_t)
#undef FBTWEAK__ACCESSORS

/*
 * The text of a string cell. Storing releases, so that the characters are there before their
 * address is; a reader reaches them only through the address, which orders its loads on every
 * machine of today.
 */
static inline __attribute__((always_inline)) const char *
fbtweak__load_text(const char *const *cell) {
  return __atomic_load_n(cell, __ATOMIC_RELAXED);
}
static inline __attribute__((always_inline)) void fbtweak__store_text(const char **cell,
                                                                      const char *text) {
  __atomic_store_n(cell, text, __ATOMIC_RELEASE);
}

/*
 * Whether some task has values of its own, see ScopedValues.swift. Such a task opened its scope
 * itself, or was started by one that did, so it sees it open.
 */
extern int fbtweak__open_scopes;
static inline __attribute__((always_inline)) bool fbtweak__has_scopes(void) {
  return __atomic_load_n(&fbtweak__open_scopes, __ATOMIC_RELAXED) != 0;
}
static inline void fbtweak__count_scopes(int difference) {
  __atomic_fetch_add(&fbtweak__open_scopes, difference, __ATOMIC_RELAXED);
}

/* The whole part of a number below 2^63, without a check that could trap. */
static inline __attribute__((always_inline)) int64_t fbtweak__whole_part(double number) {
  return (int64_t)number;
}

/*
 * Calls of C functions of the program. Meanwhile forks need not wait for this thread. If the
 * function ends the thread, or throws an exception where no call from C can be its catcher,
 * fbtweak__abandon_call is called instead of a return.
 */
void fbtweak__call_action(void (*function)(void *context), void *context);
void fbtweak__call_observer(void (*function)(const void *change, void *context), const void *change,
                            void *context);
bool fbtweak__call_visitor(bool (*function)(const void *tweak, void *context), const void *tweak,
                           void *context);

/* Counts a call of the program's code that is in Swift. */
void fbtweak__count_calls(int difference);
/* Whether such a call is running on this thread. */
bool fbtweak__is_in_call(void);

/* What a thread of the library does, the same for what is not the program's code. Forks wait for
 * it. */
void fbtweak__run_thread(void (*body)(void *context), void (*abandoned)(void *context),
                         void *context);

/* One ELF object of this process, as its program headers in memory describe it. */
struct fbtweak__image {
  const char *path;        /* as the dynamic linker names it; "" for the executable */
  uintptr_t bias;          /* what is added to an address of the file */
  const void *header;      /* the file's first bytes in memory, or NULL if they are not mapped */
  size_t header_size;      /* how many of them are mapped */
  const uint8_t *build_id; /* NULL if it has none */
  size_t build_id_size;
  uintptr_t records_start; /* what its FBTweak note says; both 0 if it has none or that is wrong */
  uintptr_t records_stop;
  const struct fbtweak__library **library_slot; /* what the note says too; or NULL likewise */
  const struct fbtweak__library *library; /* the Tweaks library that is in the image, or NULL */
  const char *application;                /* what the image calls the program it is in, or NULL */
  uintptr_t memory_start;                 /* from its first segment to the end of its last */
  uintptr_t memory_stop;
  const void *segments; /* its program headers */
  size_t segment_count;
};

/*
 * Calls visit once for each image, in the dynamic linker's order, until it returns false. The
 * structure is valid during the call, what it points to for as long as the image stays loaded. The
 * dynamic linker's lock is held: visit must not load, unload or open anything.
 */
void fbtweak__each_image(bool (*visit)(const struct fbtweak__image *image, void *context),
                         void *context);

/*
 * Whether the whole range lies inside one segment of the image that can be written, also after the
 * dynamic linker has relocated it, and whether it is aligned as records are, too.
 */
bool fbtweak__image_can_write(const struct fbtweak__image *image, uintptr_t start, size_t size);
bool fbtweak__image_can_hold_records(const struct fbtweak__image *image, uintptr_t start,
                                     size_t size);

/* What fbtweak_error returns on this thread, a copy of the message. */
void fbtweak__set_error(const char *message);

/* Whether the process runs with more rights than its user (setuid, setgid, file capabilities). */
bool fbtweak__is_privileged(void);

/* The variables of the environment, a list that ends with NULL; also after clearenv(3), where
 * environ is NULL. */
char **fbtweak__environment(void);

/*
 * Whether the constructors of Swift's runtime have run. Where the runtime is in the same image,
 * they come after that of the library.
 */
bool fbtweak__runtime_is_ready(void);

/*
 * Whether there is memory. Where there is none the library lives on a reserve, so that it can end
 * what it is doing; it begins nothing until there is some again.
 */
bool fbtweak__has_memory(void);

/* Whether there is memory for a thread of the library. */
bool fbtweak__has_room_for_thread(void);

/* What a thread does first: debuggers and top call it "tweaks" from then on, and it has allocated.
 */
void fbtweak__prepare_thread(void);

/* Called on the thread of main: has its end told, on that thread, if it ends before the process. */
void fbtweak__watch_main_thread(void (*tell)(void));
bool fbtweak__main_has_ended(void);

/* After a fork: the calling thread is that of main, and the only one. */
void fbtweak__forget_other_threads(void);

/* Waits so long, or until main has ended. */
void fbtweak__sleep_while_main_lives(int64_t nanoseconds);

/* Counts the library's threads. */
void fbtweak__count_threads(int difference);

/* Whether main has ended and no other threads are left than the library's, as far as is known. */
bool fbtweak__only_library_remains(void);

/* Waits until the calling thread is the last one, which then has the signals that main had. */
void fbtweak__wait_for_other_threads(void);

/* pthread_cond_wait for at most some seconds of the clock that the condition was made with, the
   monotonic one; whether it was not for longer. */
bool fbtweak__wait(pthread_cond_t *changed, pthread_mutex_t *mutex, long seconds);

/* Whether a child that was forked may start threads: ThreadSanitizer ends it if it does. */
bool fbtweak__may_start_threads_after_fork(void);

#ifdef __cplusplus
}
#endif

#endif /* CTWEAKS_H */
