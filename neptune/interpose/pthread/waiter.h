// One thread that waits for another, whichever kind either of them is.
//
//   user-level thread   parks; its kernel thread goes on with other threads
//   kernel thread       blocks in the operating system
//
// The waiter stands on the stack of the thread that waits.
//
// Source: [Chu05] V.A. Departs from source: threads that the runtime did not make wait for its own, and
//   the other way round.
// Threads: Wait by the thread that made it; Wake once, by any other. Once woken it may be gone: nothing is touched
//   after that.
// Units: deadlines are of the machine's monotonic clock, as in the real world.
// errno is left alone.

#pragma once

#include <atomic>

#include "neptune/base/time.h"
#include "neptune/thread/user_thread.h"

namespace neptune::interpose {

class PthreadWaiter {
 public:
  PthreadWaiter() : thread_(UserThread::Current()) {}
  PthreadWaiter(const PthreadWaiter&) = delete;
  PthreadWaiter& operator=(const PthreadWaiter&) = delete;

  enum class Ended { kWoken, kDeadline, kInterrupted };
  struct Until {
    TimePoint deadline = kNever;
    // A signal's handler ends the wait, unless it was installed with SA_RESTART.
    bool interrupted = false;
  };
  Ended Wait(const Until& until);
  void Wait() { Wait(Until{}); }
  void Wake();

 private:
  Ended Park(const Until& until);
  Ended Block(const Until& until);
  bool woken() const { return woken_.load(std::memory_order_acquire) != 0; }

  UserThread* const thread_;  // null: a kernel thread
  std::atomic<int> woken_{0};
};

// The time of the clock that deadlines of PthreadWaiter are of.
TimePoint MonotonicNow();

}  // namespace neptune::interpose
