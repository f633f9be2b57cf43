// Processor time that a piece of code uses on its thread, without what others use while it is parked.
//
//   begin ── work ── park │ another thread works │ wake ── work ── Stop()
//            counts                                        counts
//
// In the real world it reads the clock of the kernel thread's processor time, in the simulated one it counts what
// this_thread::Consume takes, waiting for a processor included.
//
// Source: DAC 4.5 (the cost of operators is their processor time).
// Layer: thread. Threads: begins and ends on one thread of one loop, user-level or the loop's own.
// Units: processor time of this host. Costs two system calls, and two more for each park.

#pragma once

#include "neptune/base/time.h"
#include "neptune/world/loop.h"

namespace neptune {

class UserThread;

class WorkMeter {
 public:
  // Begins. REQUIRES: a loop runs the caller.
  WorkMeter();
  ~WorkMeter();
  WorkMeter(const WorkMeter&) = delete;
  WorkMeter& operator=(const WorkMeter&) = delete;

  // What was used since the begin.
  Duration Read() const { return counted_ + (loop_.ProcessorTime() - resumed_at_); }

 private:
  friend class ThreadScheduler;
  // The thread leaves its kernel thread to others, and has it again.
  void Pause() { counted_ += loop_.ProcessorTime() - resumed_at_; }
  void Resume() { resumed_at_ = loop_.ProcessorTime(); }
  void Count(Duration work) { counted_ += work; }

  Loop& loop_;
  UserThread* const thread_;  // null: the loop's own
  WorkMeter* const outer_;
  Duration counted_{0};
  Duration resumed_at_;
};

}  // namespace neptune
