// Scheduling priority of a loop's kernel thread; internal to world/real.
//
// A woken serving loop should run at once, even while a background loop uses the processor. Nice
// values achieve that only for a loop that has used little processor time recently; otherwise the
// system lets the running thread finish its slice of several milliseconds. Serving loops therefore
// request the shortest slice; on wake-up they then preempt threads with longer slices (Linux 6.12;
// no effect on older kernels). Measured with one loop that works half of the time and one that
// always works: p99 of the first loop's delay is 1.5 ms without and 0.4 ms with this setting.
//
// A background thread whose task runs long may be set back for as long as that takes
// (background_threads.h): it gets a longer slice than the others, which needs no privilege, and is
// five nicer if the system would let it return from that (CAP_SYS_NICE or RLIMIT_NICE).
//
// Threads: SetThreadPriority and OfThisThread: each thread for itself; the rest on any thread, for
//   a thread that lives.

#pragma once

#include <sys/types.h>

#include <cstdint>

#include "neptune/world/world.h"

namespace neptune {

// Sets the priority of the calling thread. If the program was started under a real-time policy, a
// background loop runs one priority below the others if there is one. Otherwise a background loop
// is ten nicer than a serving loop, and a control loop five less nice if the system permits it.
// Other settings refused by the system are logged.
void SetThreadPriority(LoopPriority priority);

// What the system's scheduler knows of a thread, and how it is set back for a while.
class ThreadStanding {
 public:
  // REQUIRES: the thread has its priority.
  static ThreadStanding OfThisThread();

  // Sets the thread back until Return. Neither does anything to a thread of a real-time policy.
  // What the system refuses has no effect.
  void StepBack() const;
  void Return() const;

 private:
  pid_t thread_ = 0;
  int niceness_ = 0;
  bool is_fair_ = false;     // of a policy with nice values
  bool may_return_ = false;  // from a larger nice value
};

}  // namespace neptune
