/* The ways into the library, and out of it into the program's code, which may throw or end its
 * thread. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "calls.h"

#include <cxxabi.h>
#include <exception>
#include <new>
#include <pthread.h>

#include "ctweaks.h"
#include "ctweaksystem.h"

/* Written in Swift: puts right what a call was part of that does not return. */
extern "C" __attribute__((visibility("hidden"))) void fbtweak__abandon_call(void);

namespace {

thread_local fbtweak__entry *innermost;
thread_local int calls;

/* What holds for the program's code: forks need not wait for it, and it can be cancelled. */
class program_call {
  const bool held_forks = fbtweak__allow_forks();

public:
  bool has_returned = false;

  program_call() {
    calls++;
    if (innermost)
      pthread_setcancelstate(innermost->cancel_state, nullptr);
  }
  ~program_call() {
    calls--;
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
  }
};

} // namespace

void fbtweak__enter(fbtweak__entry *entry) {
  entry->outer = innermost;
  entry->exception = nullptr;
  entry->holds_forks = fbtweak__hold_forks();
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &entry->cancel_state);
  innermost = entry;
}

void fbtweak__leave(fbtweak__entry *entry) {
  innermost = entry->outer;
  pthread_setcancelstate(entry->cancel_state, nullptr);
  if (entry->holds_forks)
    fbtweak__allow_forks();
  if (!entry->exception)
    return;
  std::exception_ptr *const kept = static_cast<std::exception_ptr *>(entry->exception);
  const std::exception_ptr exception = *kept;
  delete kept;
  std::rethrow_exception(exception);
}

template <typename Body> static void call_program(Body body) {
  program_call call;
  try {
    body();
    call.has_returned = true;
  } catch (abi::__forced_unwind &) {
    /* The thread is cancelled, or has called pthread_exit. */
    throw;
  } catch (...) {
    /* Without C to return to it goes on at once, to whoever catches it, or nobody. */
    if (!innermost)
      throw;
    if (!innermost->exception)
      innermost->exception = new (std::nothrow) std::exception_ptr(std::current_exception());
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
    }
  } thread = {abandoned, context, false};
  fbtweak__hold_forks();
  body(context);
  thread.has_returned = true;
}
