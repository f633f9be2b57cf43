// A thread that waits for another one; both may be of either kind.
//
//   user-level thread   parks; its kernel thread continues with other threads
//   kernel thread       blocks in the operating system
//
// The object lives on the stack of the waiting thread.
//
// Source: [Chu05] V.A. Departs from source: threads that the runtime did not create can wait for
//   its own, and vice versa.
// Threads: Wait on the thread that created it; Wake once, on any other. The object may be gone once
//   it is woken, so Wake does not touch it afterwards.
// Units: deadlines are of the machine's monotonic clock, as in the real world.
// Preserves errno.

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
    // True: a signal handler ends the wait unless it was installed with SA_RESTART.
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

// The current time of the clock that PthreadWaiter's deadlines use.
TimePoint MonotonicNow();

}  // namespace neptune::interpose
