// The task of a background loop, as the world's other threads see it: whether its thread must step
// back because others begin tasks while this one runs long. Internal to world/real.
//
//   waits ──a task begins──► runs ──kLongTaskMin later, another loop begins one──► steps back
//     ▲                       │                                                       │
//     └───────────────────────┴──────── the task ends: the thread returns ◄───────────┘
//
// No I/O, no clock.
// Threads: Begin and Wait on the loop's thread; StepBack and Return one at a time; the rest on any
//   thread.

#pragma once

#include <atomic>
#include <cstdint>

#include "neptune/base/time.h"

namespace neptune {

// How long a task runs before it counts as long. Smaller: the first milliseconds of a long task
// hold up less, but more tasks cost two system calls. Default: twice what a short task takes at
// most, as loops count (kPartOfTurnMax).
inline constexpr Duration kLongTaskMin = std::chrono::milliseconds(2);

class LongTask {
 public:
  // A task begins, perhaps where the one before has ended.
  void Begin(TimePoint now) {
    began_ns_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  // The thread waits for tasks.
  void Wait() { began_ns_.store(kWaits, std::memory_order_relaxed); }
  bool waits() const { return began_ns_.load(std::memory_order_relaxed) == kWaits; }

  // True if the thread must step back for a task that another one begins now.
  bool MustStepBack(TimePoint now) const {
    const int64_t began_ns = began_ns_.load(std::memory_order_relaxed);
    return began_ns != kWaits && !has_stepped_back() &&
           now - TimePoint(Duration(began_ns)) >= kLongTaskMin;
  }
  // The thread has stepped back, until its task ends.
  void StepBack() { has_stepped_back_.store(true, std::memory_order_relaxed); }
  bool has_stepped_back() const { return has_stepped_back_.load(std::memory_order_relaxed); }
  void Return() { has_stepped_back_.store(false, std::memory_order_relaxed); }

 private:
  static constexpr int64_t kWaits = INT64_MIN;

  std::atomic<int64_t> began_ns_{kWaits};
  std::atomic<bool> has_stepped_back_{false};
};

}  // namespace neptune
