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

namespace {

thread_local fbtweak__entry *innermost;
thread_local int calls;

/* What holds for the program's code: forks need not wait for it, and it can be cancelled. */
class program_call {
  void (*const abandoned)(void *);
  void *const context;
  const bool held_forks = fbtweak__allow_forks();

public:
  bool has_returned = false;

  program_call(void (*abandoned)(void *), void *context) : abandoned(abandoned), context(context) {
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
    abandoned(context);
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

void fbtweak__call(void (*function)(void *), void (*abandoned)(void *), void *context) {
  program_call call(abandoned, context);
  try {
    function(context);
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
