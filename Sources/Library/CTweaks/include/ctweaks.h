/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctweaks.h: the parts of the Tweaks library that cannot be written in Swift. Not for programs: it
 * may change with every version.
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

/* Access to a cell, or its leading bytes, with one relaxed atomic load or store. */
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
 * The text of a string cell. The store releases, so that the characters are visible before their
 * address; a reader reaches them only through the address, a dependency that orders its loads on
 * all current machines.
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
 * Whether any task has values of its own; see ScopedValues.swift. Such a task opened its scope
 * itself, or was started by a task that did, so it sees this as true.
 */
extern int fbtweak__open_scopes;
static inline __attribute__((always_inline)) bool fbtweak__has_scopes(void) {
  return __atomic_load_n(&fbtweak__open_scopes, __ATOMIC_RELAXED) != 0;
}
static inline void fbtweak__count_scopes(int difference) {
  __atomic_fetch_add(&fbtweak__open_scopes, difference, __ATOMIC_RELAXED);
}

/*
 * Counts the commits that store values in cells, in all stores: the low 16 bits count those in
 * progress, the others all that have begun. Each store has its own lock, so several can commit.
 */
#define FBTWEAK__STORING UINT64_C(0xffff)
extern uint64_t fbtweak__sequence;
static inline uint64_t fbtweak__begin_taking(void) {
  return __atomic_load_n(&fbtweak__sequence, __ATOMIC_ACQUIRE);
}
/*
 * Returns whether the values loaded since fbtweak__begin_taking belong together. Their loads must
 * complete before the last one here; see Sets in fbtweak.h.
 */
static inline bool fbtweak__has_taken(uint64_t before) {
#if defined(__x86_64__)
  __asm__ volatile("" ::: "memory");
#elif defined(__aarch64__)
  __asm__ volatile("dmb ishld" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
  return (before & FBTWEAK__STORING) == 0 &&
         before == __atomic_load_n(&fbtweak__sequence, __ATOMIC_RELAXED);
}

/* A gate in Swift, see FBTweakGate: returns whether something waits, and passes the gate if so. */
static inline __attribute__((always_inline)) bool fbtweak__is_waiting(const uint64_t *state) {
  return __builtin_expect(__atomic_load_n(state, __ATOMIC_RELAXED) != 0, 0);
}
void fbtweak__pass_gate(void *record);

/*
 * The cell of a gate; see CSupport/RecordFormat.md. The loop takes the waiting stores by a compare
 * and exchange that acquires, and stores 0 with release when all of them are done.
 */
static inline uint64_t fbtweak__load_gate(const uint64_t *cell) {
  return __atomic_load_n(cell, __ATOMIC_ACQUIRE);
}
static inline void fbtweak__store_gate(uint64_t *cell, uint64_t count) {
  __atomic_store_n(cell, count, __ATOMIC_RELEASE);
}
/* Takes back the waiting stores. Returns false if the loop has begun or finished them. */
static inline bool fbtweak__retract_gate(uint64_t *cell, uint64_t count) {
  return __atomic_compare_exchange_n(cell, &count, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/*
 * Count changes, for readers of several tweaks: the number is odd while cells are stored. A reader
 * loads the number, then the cells with acquire, then the number again. The number of an image is
 * stored only with the lock of the process's store; if it is odd already, its writer has died.
 */
static inline void fbtweak__begin_stores(uint64_t *sequence) {
  uint64_t count = __atomic_load_n(sequence, __ATOMIC_RELAXED);
  __atomic_store_n(sequence, (count + 1) | 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
}
static inline void fbtweak__end_stores(uint64_t *sequence) {
  uint64_t count = __atomic_load_n(sequence, __ATOMIC_RELAXED);
  __atomic_store_n(sequence, count + 1, __ATOMIC_RELEASE);
}
/* The same for fbtweak__sequence, which counts several commits at once. */
static inline void fbtweak__begin_any_stores(void) {
  __atomic_fetch_add(&fbtweak__sequence, FBTWEAK__STORING + 2, __ATOMIC_ACQUIRE);
  __atomic_thread_fence(__ATOMIC_RELEASE);
}
static inline void fbtweak__end_any_stores(void) {
  __atomic_fetch_sub(&fbtweak__sequence, 1, __ATOMIC_RELEASE);
}
/* For a forked child, in which the commits of other threads will never end. */
void fbtweak__repair_sequence(void);

/* Returns the whole part of a number below 2^63, without checks that could trap. */
static inline __attribute__((always_inline)) int64_t fbtweak__whole_part(double number) {
  return (int64_t)number;
}

/*
 * Call C functions of the program. During the call forks need not wait for this thread. If the
 * function ends the thread, or throws an exception that no C caller can receive,
 * fbtweak__abandon_call is called instead of returning.
 */
void fbtweak__call_action(void (*function)(void *context), void *context);
void fbtweak__call_observer(void (*function)(const void *change, void *context), const void *change,
                            void *context);
bool fbtweak__call_visitor(bool (*function)(const void *tweak, void *context), const void *tweak,
                           void *context);

/* Counts calls of the program's Swift code. */
void fbtweak__count_calls(int difference);
/* Returns whether a call of the program's code is running on this thread. */
bool fbtweak__is_in_call(void);
/*
 * Returns whether the thread runs the library's own code for C, or the program's Swift code called
 * from there. At exit that means that a signal has interrupted the thread there, and that its
 * handler has called exit.
 */
bool fbtweak__is_inside(void);
/*
 * Returns whether a signal has interrupted the thread there, so that it may hold any lock. For
 * functions that the handler may call, and for destructors at exit.
 */
bool fbtweak__was_interrupted(void);

/* Runs a library thread, with the same protection for the library's own code. Forks wait for it. */
void fbtweak__run_thread(void (*body)(void *context), void (*abandoned)(void *context),
                         void *context);

/* An ELF object of this process, as described by its program headers in memory. */
struct fbtweak__image {
  const char *path;        /* as the dynamic linker names it; "" for the executable */
  uintptr_t bias;          /* the difference between memory and file addresses */
  const void *header;      /* the file's first bytes in memory, or NULL if they are not mapped */
  size_t header_size;      /* with the program headers, as far as it is mapped */
  const uint8_t *build_id; /* NULL if it has none */
  size_t build_id_size;
  uintptr_t records_start; /* from its FBTweak note; both 0 if there is none or it is invalid */
  uintptr_t records_stop;
  const struct fbtweak__library **library_slot; /* from the same note, or NULL */
  const struct fbtweak__library *library;       /* the Tweaks library in the image, or NULL */
  const char *application;                      /* the program's name in the image, or NULL */
  uintptr_t memory_start;                       /* from its first segment to the end of its last */
  uintptr_t memory_stop;
  const void *segments; /* its program headers */
  size_t segment_count;
  bool has_variables; /* whether it has their note */
};

/*
 * Calls visit for each image, in the dynamic linker's order, until visit returns false. The
 * structure is valid during the call, and the memory that it points to as long as the image stays
 * loaded. The dynamic linker's lock is held: visit must not load, unload or open anything.
 */
void fbtweak__each_image(bool (*visit)(const struct fbtweak__image *image, void *context),
                         void *context);

/*
 * Returns the number of images that stay loaded until the process ends. They are the first ones in
 * the dynamic linker's order: the executable, preloaded libraries, and the libraries that these
 * need. All others were loaded by dlopen and can be unloaded by dlclose, even those that were
 * loaded when the library started. A namespace of dlmopen has no executable, and none of its images
 * stays.
 */
size_t fbtweak__count_lasting_images(void);

/* Returns whether this image is in a namespace of dlmopen. */
bool fbtweak__is_in_namespace(void);

/*
 * Returns whether the range lies in one segment of the image that is writable, even after
 * relocation; for records, also whether the range is aligned.
 */
bool fbtweak__image_can_write(const struct fbtweak__image *image, uintptr_t start, size_t size);
bool fbtweak__image_can_hold_records(const struct fbtweak__image *image, uintptr_t start,
                                     size_t size);

/* Sets the message that fbtweak_error returns on this thread, by copying it. */
void fbtweak__set_error(const char *message);

/* Returns whether the process has more rights than its user (setuid, setgid, file capabilities). */
bool fbtweak__is_privileged(void);

/* Returns whether the process contains the module TweaksTesting. */
bool fbtweak__has_tests(void);

/* Records an issue of the running test, and returns false in a process without the module
 * TweaksTesting. */
bool fbtweak__fails_test(const char *problem);

/* Returns the environment, terminated by NULL even after clearenv(3), when environ is NULL. */
char **fbtweak__environment(void);

/*
 * Returns whether the constructors of Swift's runtime have run. If the runtime is in the same
 * image, they run after the library's.
 */
bool fbtweak__runtime_is_ready(void);

/*
 * Returns whether memory is available. Otherwise the library finishes its work in progress with a
 * reserve, and starts nothing until memory is available again.
 */
bool fbtweak__has_memory(void);

/* Returns whether there is memory for a library thread. */
bool fbtweak__has_room_for_thread(void);

/*
 * Prepares a new thread: names it "tweaks" for debuggers and top, and makes its first allocation.
 */
void fbtweak__prepare_thread(void);

/*
 * Bracket work of a thread that must not happen while destructors of libraries run. At exit,
 * fbtweak__begin_work never returns.
 */
void fbtweak__begin_work(void);
void fbtweak__end_work(void);

/* Prevents more work from beginning, and waits briefly for the end of work in progress. */
void fbtweak__stop_work_at_exit(void);

/*
 * Count the threads that write overrides. An exit that has interrupted the library can neither lock
 * nor allocate, so it only waits briefly until these threads have ended. From then on no function
 * of the library does anything.
 */
void fbtweak__count_writers(int difference);
void fbtweak__exit_inside(void);
bool fbtweak__exits_inside(void);

/*
 * Returns whether the calling thread holds a mutex that pthread_mutex_init made without attributes.
 * With musl it may wait for another thread that holds it.
 */
bool fbtweak__holds(pthread_mutex_t *mutex);

/* Called on the main thread: if that thread ends before the process, it calls tell. */
void fbtweak__watch_main_thread(void (*tell)(void));
bool fbtweak__main_has_ended(void);

/* Records, after a fork, that the calling thread is the main thread and the only one. */
void fbtweak__forget_other_threads(void);

/* The calling thread's pthread_t as a number: with musl it is a pointer. */
static inline uintptr_t fbtweak__current_thread(void) {
  return (uintptr_t)pthread_self();
}

/* pthread_create, pthread_join and pthread_detach with such a number. */
static inline int fbtweak__create_thread(uintptr_t *thread, const pthread_attr_t *attributes,
                                         void *(*body)(void *), void *context) {
  pthread_t created;
  int error = pthread_create(&created, attributes, body, context);
  *thread = error == 0 ? (uintptr_t)created : 0;
  return error;
}
static inline void fbtweak__join_thread(uintptr_t thread) {
  pthread_join((pthread_t)thread, NULL);
}
static inline void fbtweak__detach_thread(uintptr_t thread) {
  pthread_detach((pthread_t)thread);
}

/* Count the library's threads, and those of them that sleep in fbtweak__sleep_until_room. */
void fbtweak__count_threads(int difference);
void fbtweak__count_sleepers(int difference);

/*
 * Sleeps for a time, which the end of the main thread shortens, and then until there is memory for
 * the calling thread, which then no longer counts as a sleeper. It uses no memory before. If there
 * is none and the process ends with the main thread, this does not return.
 */
void fbtweak__sleep_until_room(int64_t nanoseconds);

/*
 * Returns whether, as far as is known, the main thread has ended and only library threads are left.
 */
bool fbtweak__only_library_remains(void);

/* Waits until the calling thread is the last one, and then sets the main thread's signal mask. */
void fbtweak__wait_for_other_threads(void);

/*
 * pthread_cond_wait with a timeout in seconds of the monotonic clock, which the condition uses.
 * Returns whether it did not time out.
 */
bool fbtweak__wait(pthread_cond_t *changed, pthread_mutex_t *mutex, long seconds);

/* Returns whether a forked child may start threads: under ThreadSanitizer that would end it. */
bool fbtweak__may_start_threads_after_fork(void);

#ifdef __cplusplus
}
#endif

#endif /* CTWEAKS_H */
