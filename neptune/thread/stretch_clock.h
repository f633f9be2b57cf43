// Processor time that a user-level thread uses until it parks, nearly at the cost of the wall
// clock.
//
//   wall        ├─ stretch ─┤ others ├── stretch ──┤
//   processor  A····························A         A: the CPU clock is read, a system call
//
// A stretch is the time between two parks. If it is too short for another program to have had the
// processor, it is charged its wall time. A longer one is charged at most its wall time, and at
// most what the kernel thread has used since its CPU clock was last read before the stretch.
//
// Threads: one loop's kernel thread.
// Units: a stretch below 20 us counts in full even if another program interrupted it; an
//   interrupted longer one counts at most 0.4 ms too much. Costs two readings of the wall clock a
//   stretch, a system call for every 0.4 ms, and one to read a stretch of 20 us or more.

#pragma once

#include "neptune/base/time.h"
#include "neptune/world/loop.h"

namespace neptune {

class StretchClock {
 public:
  explicit StretchClock(const Loop& loop) : loop_(loop) {}

  void Begin();
  // Processor time since Begin. Zero in the simulated world, where no time passes in a stretch.
  Duration Used();

 private:
  void AskProcessorTime(TimePoint now);

  const Loop& loop_;
  Duration processor_time_{0};  // the kernel thread's, when last read
  TimePoint ask_at_{};          // time of the next reading
  TimePoint begin_{};
  Duration known_before_{0};  // processor time at the last reading before the stretch
  Duration used_{0};          // already reported
};

}  // namespace neptune
