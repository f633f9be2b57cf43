// Processor time that a piece of code uses on its thread, without what others use while it is parked.
//
//   begin ── work ── park │ another thread works │ wake ── work ── Stop()
//            counts                                        counts
//
// In the real world it adds the stretches that the thread runs (StretchClock), in the simulated one it counts what
// this_thread::Consume takes, waiting for a processor included.
//
// Source: [Chu03] 4.5 (the cost of operators is their processor time).
// Threads: begins and ends on one thread of one loop, user-level or the loop's own.
// Units: processor time of this host, as exact as StretchClock; the loop's own is asked of the system, twice.

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
  Duration Read() const;

 private:
  friend class ThreadScheduler;
  void Count(Duration work) { counted_ += work; }
  // Of the stretch that runs.
  Duration UsedNow() const;

  Loop& loop_;
  UserThread* const thread_;  // null: the loop's own
  WorkMeter* const outer_;
  Duration counted_{0};  // in stretches that have ended, less what the first had used before
};

}  // namespace neptune
