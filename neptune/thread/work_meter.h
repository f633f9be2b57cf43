// Processor time that a piece of code uses on its thread, excluding what others use while it is
// parked.
//
//   begin ── work ── park │ another thread works │ wake ── work ── Stop()
//            counts                                        counts
//
// In the real world it adds up the stretches that the thread runs (StretchClock). In the simulated
// one it counts the time that this_thread::Consume takes, including the wait for a processor.
//
// Source: [Chu03] 4.5 (the cost of operators is their processor time).
// Threads: starts and stops on one thread of one loop, user-level or the loop's own.
// Units: processor time of this host, as precise as StretchClock. On the loop's own thread it costs
//   two system calls.

#pragma once

#include "neptune/base/time.h"
#include "neptune/world/loop.h"

namespace neptune {

class UserThread;

class WorkMeter {
 public:
  // Starts measuring. REQUIRES: a loop runs the caller.
  WorkMeter();
  ~WorkMeter();
  WorkMeter(const WorkMeter&) = delete;
  WorkMeter& operator=(const WorkMeter&) = delete;

  // Processor time used since the start.
  Duration Read() const;

 private:
  friend class ThreadScheduler;
  void Count(Duration work) { counted_ += work; }
  // Processor time of the current stretch.
  Duration UsedNow() const;

  Loop& loop_;
  UserThread* const thread_;  // null: the loop's own thread
  WorkMeter* const outer_;
  Duration counted_{0};  // in completed stretches, less what the first had used before the start
};

}  // namespace neptune
