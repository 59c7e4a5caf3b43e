// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls into the library, and from the library into the program, whose code may throw or end its
 * thread.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "calls.h"

#include <cstdint>
#include <cxxabi.h>
#include <dlfcn.h>
#include <exception>
#include <new>
#include <pthread.h>
#include <unwind.h>

#include "ctweaks.h"
#include "ctweaksystem.h"

/* Written in Swift: cleans up after a call that does not return. */
extern "C" __attribute__((visibility("hidden"))) void fbtweak__abandon_call(void);

/* Present in programs built with ThreadSanitizer: dynamic_annotations.h. */
extern "C" {
__attribute__((weak)) void AnnotateIgnoreReadsBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreReadsEnd(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char *file, int line);
}

namespace {

thread_local fbtweak__entry *innermost;
thread_local int calls;
/* The calls among them that have left the library's own code. */
thread_local int functions;

#if defined(__has_feature)
#  if __has_feature(thread_sanitizer)
#    define HAS_THREAD_SANITIZER 1
#  endif
#endif
#ifdef HAS_THREAD_SANITIZER
bool hide_accesses() {
  return false;
}
bool show_accesses() {
  return false;
}
#else
thread_local bool hides_accesses;

/*
 * ThreadSanitizer sees what the library frees and copies, but not the atomic operations that order
 * this, because the library is built without it. So it is told to ignore accesses while the
 * library's own code runs. It still sees locks, and what they order. Returns whether it did not
 * ignore accesses before.
 */
bool hide_accesses() {
  if (hides_accesses || !AnnotateIgnoreReadsBegin || !AnnotateIgnoreWritesBegin)
    return false;
  AnnotateIgnoreReadsBegin("calls.cpp", __LINE__);
  AnnotateIgnoreWritesBegin("calls.cpp", __LINE__);
  hides_accesses = true;
  return true;
}
/* Returns whether it ignored accesses before. */
bool show_accesses() {
  if (!hides_accesses)
    return false;
  hides_accesses = false;
  AnnotateIgnoreWritesEnd("calls.cpp", __LINE__);
  AnnotateIgnoreReadsEnd("calls.cpp", __LINE__);
  return true;
}
#endif

/*
 * The state for calls of the program's code: forks need not wait for it, and it can be cancelled.
 */
class program_call {
  const bool held_forks = fbtweak__allow_forks();
  const bool hid_accesses = show_accesses();

public:
  bool has_returned = false;

  program_call() {
    calls++;
    functions++;
    if (innermost)
      pthread_setcancelstate(innermost->cancel_state, nullptr);
  }
  ~program_call() {
    functions--;
    calls--;
    if (hid_accesses || !has_returned)
      hide_accesses();
    if (has_returned) {
      if (innermost)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
      if (held_forks)
        fbtweak__hold_forks();
      return;
    }
    /* Control does not return to the library's caller. */
    innermost = nullptr;
    fbtweak__hold_forks();
    fbtweak__abandon_call();
    fbtweak__allow_forks();
    show_accesses();
  }
};

} // namespace

namespace {

/* The C++ runtime's counters of each thread: Itanium C++ ABI, Exception Handling, 2.2.2. */
struct exception_globals {
  void *caught;
  unsigned uncaught;
};

/*
 * The C++ runtime in this image is not that of the throwing program, which counts the exception as
 * uncaught as long as it is kept here, and for ever if it is dropped. So the other runtime is
 * notified. It is the one that made the exception and set the function that destroys it; a runtime
 * linked statically into the program cannot be reached.
 */
void count_uncaught(const std::exception_ptr &exception, int difference) {
  /* An exception_ptr is the address of the object, which follows the header of the exception. */
  const auto *header = *reinterpret_cast<const _Unwind_Exception *const *>(&exception) - 1;
  const void *destroy = reinterpret_cast<const void *>(header->exception_cleanup);
  Dl_info runtime, found;
  if (!dladdr(destroy, &runtime))
    return;
  void *image = dlopen(runtime.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!image)
    return;
  void *function = dlsym(image, "__cxa_get_globals");
  if (function && dladdr(function, &found) && found.dli_fbase == runtime.dli_fbase &&
      function != reinterpret_cast<void *>(abi::__cxa_get_globals)) {
    using get_globals = exception_globals *(*)();
    reinterpret_cast<get_globals>(function)()->uncaught += static_cast<unsigned>(difference);
    reinterpret_cast<exception_globals *>(abi::__cxa_get_globals())->uncaught -=
        static_cast<unsigned>(difference);
  }
  dlclose(image);
}

/*
 * In a program with an unwinder of its own, linked with -static-libgcc, that unwinder calls the
 * functions of this image, which then call libgcc_s. That aborts unless libgcc_s has been used
 * before.
 *
 * A signal may interrupt this, so no thread waits for another. Returns false while one is at it.
 */
void use_unwinder() {
  _Unwind_Backtrace([](_Unwind_Context *, void *) { return _URC_END_OF_STACK; }, nullptr);
}
bool prepare_unwinder() {
  enum { NEW, IN_USE, READY };
  static int state;
  int before = NEW;
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == READY)
    return true;
  if (!__atomic_compare_exchange_n(&state, &before, IN_USE, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_ACQUIRE))
    return before == READY;
  use_unwinder();
  __atomic_store_n(&state, READY, __ATOMIC_RELEASE);
  return true;
}

} // namespace

void fbtweak__enter(fbtweak__entry *entry) {
  entry->outer = innermost;
  entry->exception = nullptr;
  entry->functions = functions;
  entry->hides_accesses = hide_accesses();
  entry->holds_forks = fbtweak__hold_forks();
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &entry->cancel_state);
  innermost = entry;
}

void fbtweak__leave(fbtweak__entry *entry) {
  innermost = entry->outer;
  pthread_setcancelstate(entry->cancel_state, nullptr);
  if (entry->holds_forks)
    fbtweak__allow_forks();
  if (entry->hides_accesses)
    show_accesses();
  if (!entry->exception)
    return;
  std::exception_ptr *const kept = static_cast<std::exception_ptr *>(entry->exception);
  const std::exception_ptr exception = *kept;
  delete kept;
  count_uncaught(exception, 1);
  std::rethrow_exception(exception);
}

template <typename Body> static void call_program(Body body) {
  if (!prepare_unwinder())
    use_unwinder();
  program_call call;
  try {
    body();
    call.has_returned = true;
  } catch (abi::__forced_unwind &) {
    /* The thread is cancelled, or has called pthread_exit. */
    throw;
  } catch (...) {
    const std::exception_ptr exception = std::current_exception();
    /*
     * Without a C caller to return to, it propagates at once. So does an exception of another
     * runtime, such as libc++, which cannot be stored.
     */
    if (!innermost || !exception)
      throw;
    count_uncaught(exception, -1);
    if (!innermost->exception)
      innermost->exception = new (std::nothrow) std::exception_ptr(exception);
    call.has_returned = true;
  }
}

void fbtweak__call_action(void (*function)(void *), void *context) {
  call_program([&] { function(context); });
}
void fbtweak__call_observer(void (*function)(const void *, void *), const void *change,
                            void *context) {
  call_program([&] { function(change, context); });
}
bool fbtweak__call_visitor(bool (*function)(const void *, void *), const void *tweak,
                           void *context) {
  bool goes_on = false;
  call_program([&] { goes_on = function(tweak, context); });
  return goes_on;
}

void fbtweak__count_calls(int difference) {
  calls += difference;
}
bool fbtweak__is_in_call(void) {
  return calls != 0;
}

bool fbtweak__is_inside(void) {
  return innermost && innermost->functions == functions;
}
bool fbtweak__was_interrupted(void) {
  if (__builtin_expect(!fbtweak__is_inside(), true))
    return false;
  struct search {
    const std::uintptr_t entry;
    std::uintptr_t last;
    bool has_found_entry;
  } search = {reinterpret_cast<std::uintptr_t>(innermost), UINTPTR_MAX, false};
  if (!prepare_unwinder())
    return true;
  _Unwind_Backtrace(
      [](_Unwind_Context *context, void *data) {
        auto *search = static_cast<struct search *>(data);
        int is_signal_frame = 0;
        _Unwind_GetIPInfo(context, &is_signal_frame);
        const std::uintptr_t frame = _Unwind_GetCFA(context);
        search->has_found_entry = search->last <= search->entry && search->entry < frame;
        search->last = frame;
        return search->has_found_entry || is_signal_frame ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &search);
  /* Functions that cannot be unwound, in which the search ends, call the destructors at exit. */
  return !search.has_found_entry;
}

void fbtweak__run_thread(void (*body)(void *), void (*abandoned)(void *), void *context) {
  struct thread {
    void (*const abandoned)(void *);
    void *const context;
    bool has_returned;

    ~thread() {
      fbtweak__hold_forks();
      if (!has_returned)
        abandoned(context);
      fbtweak__allow_forks();
      show_accesses();
      fbtweak__count_threads(-1);
    }
  } thread = {abandoned, context, false};
  fbtweak__count_threads(1);
  hide_accesses();
  fbtweak__hold_forks();
  body(context);
  thread.has_returned = true;
}
