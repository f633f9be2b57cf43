// The share of requests that were dropped recently.
//
// Source: [Shen02] 4.4.2 (a 30 s window of recent request dropping statistics).
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: the window moves in steps of a thirtieth of its length. A time before the newest one seen
//   is treated as the newest.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "neptune/base/time.h"

namespace neptune {

class DropWindow {
 public:
  explicit DropWindow(Duration length = std::chrono::seconds(30))
      : step_(std::max(length / kStepCount, Duration(1))) {}

  void OnArrival(TimePoint now) {
    MoveTo(now);
    ++Newest().arrived;
    ++all_.arrived;
  }
  void OnDrop(TimePoint now) {
    MoveTo(now);
    ++Newest().dropped;
    ++all_.dropped;
  }

  // Share of the requests that arrived in the window; 0 if there are none.
  double DropShare(TimePoint now) {
    MoveTo(now);
    return all_.arrived == 0
               ? 0
               : static_cast<double>(all_.dropped) / static_cast<double>(all_.arrived);
  }

 private:
  static constexpr int64_t kStepCount = 30;
  struct Step {
    uint64_t arrived = 0;
    uint64_t dropped = 0;
  };

  Step& Newest() { return steps_[static_cast<size_t>(newest_ % kStepCount)]; }
  // Clears the steps that leave the window.
  void MoveTo(TimePoint now) {
    const int64_t number = now.time_since_epoch() / step_;
    if (number <= newest_) return;
    newest_ = std::max(newest_, number - kStepCount);
    while (newest_ < number) {
      ++newest_;
      all_.arrived -= Newest().arrived;
      all_.dropped -= Newest().dropped;
      Newest() = {};
    }
  }

  const Duration step_;
  std::array<Step, kStepCount> steps_;
  Step all_;
  int64_t newest_ = 0;  // number of the current step
};

}  // namespace neptune
