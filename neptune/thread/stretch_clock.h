// Processor time of the stretch that a user-level thread runs until it parks, at the price of the wall clock.
//
//   wall        ├─ stretch ─┤ others ├── stretch ──┤
//   processor  A····························A         A: asked for, a system call
//
// A stretch too short for another program to have had the processor took its wall time. A longer one took at most its
// wall time, and at most what the kernel thread used since its clock was asked for before the stretch.
//
// Threads: one loop's kernel thread.
// Units: a stretch below 20 us counts whole even if another program interrupted it; an interrupted longer one counts
// at most 0.4 ms too much. Costs two readings of the wall clock a stretch, a system call for every 0.4 ms, and one to
// read a stretch of 20 us or more.

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
  Duration processor_time_{0};  // of the kernel thread, when asked for last
  TimePoint ask_at_{};          // it is asked for again
  TimePoint begin_{};
  Duration known_before_{0};  // processor time asked for last before the stretch
  Duration used_{0};          // already told
};

}  // namespace neptune
