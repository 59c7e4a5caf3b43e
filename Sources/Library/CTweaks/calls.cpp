/* The ways into the library, and out of it into the program's code, which may throw or end its
 * thread. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "calls.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <exception>
#include <new>
#include <pthread.h>
#include <unwind.h>

#include "ctweaks.h"
#include "ctweaksystem.h"

/* Written in Swift: puts right what a call was part of that does not return. */
extern "C" __attribute__((visibility("hidden"))) void fbtweak__abandon_call(void);

/* There in programs that are built with ThreadSanitizer: dynamic_annotations.h. */
extern "C" {
__attribute__((weak)) void AnnotateIgnoreReadsBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreReadsEnd(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char *file, int line);
}

namespace {

thread_local fbtweak__entry *innermost;
thread_local int calls;

#if defined(__has_feature) && __has_feature(thread_sanitizer)
bool hide_accesses() {
  return false;
}
bool show_accesses() {
  return false;
}
#else
thread_local bool hides_accesses;

/*
 * ThreadSanitizer sees what the library frees and copies, but not the atomic operations by which
 * its threads agree, since it is built without. So it is asked to look away while the library's own
 * code runs. Locks it sees, and what they order. Returns whether it did not look away before.
 */
bool hide_accesses() {
  if (hides_accesses || !AnnotateIgnoreReadsBegin || !AnnotateIgnoreWritesBegin)
    return false;
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  hides_accesses = true;
  return true;
}
/* Returns whether it did look away. */
bool show_accesses() {
  if (!hides_accesses)
    return false;
  hides_accesses = false;
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  return true;
}
#endif

/* What holds for the program's code: forks need not wait for it, and it can be cancelled. */
class program_call {
  const bool held_forks = fbtweak__allow_forks();
  const bool hid_accesses = show_accesses();

public:
  bool has_returned = false;

  program_call() {
    calls++;
    if (innermost)
      pthread_setcancelstate(innermost->cancel_state, nullptr);
  }
  ~program_call() {
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
    /* What has called the library is not returned to. */
    innermost = nullptr;
    fbtweak__hold_forks();
    fbtweak__abandon_call();
    fbtweak__allow_forks();
    show_accesses();
  }
};

} // namespace

namespace {

/* What a C++ runtime counts for each thread: Itanium C++ ABI, Exception Handling, 2.2.2. */
struct exception_globals {
  void *caught;
  unsigned uncaught;
};

/*
 * The C++ runtime inside this image is not the one of the program that throws: that counts the
 * exception as uncaught for as long as it is kept here, and for ever if it is dropped. So the other
 * runtime is told. It is the one that made the exception and left a function to destroy it; one
 * that is linked statically into the program cannot be asked.
 */
void count_uncaught(const std::exception_ptr &exception, int difference) {
  /* An exception_ptr is the address of the object, which the header of the exception precedes. */
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
 * A program with an unwinder of its own, linked with -static-libgcc, has that call the functions of
 * this image, which then ask libgcc_s. That aborts unless somebody has used it before.
 */
void prepare_unwinder() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    _Unwind_Backtrace([](_Unwind_Context *, void *) { return _URC_END_OF_STACK; }, nullptr);
  });
}

} // namespace

void fbtweak__enter(fbtweak__entry *entry) {
  entry->outer = innermost;
  entry->exception = nullptr;
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
  prepare_unwinder();
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
     * Without C to return to it goes on at once, to whoever catches it, or nobody. So does one of
     * another runtime, such as libc++, which cannot be kept.
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
