// Looks for services that stall or recover, so that the node announces the change at once.
//
// Threads: one loop's.

#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "neptune/base/time.h"
#include "neptune/base/time_grid.h"
#include "neptune/world/loop.h"

namespace neptune {

// Interval of the looks. Together with a service's stall_timeout, a hung service is withdrawn
// within 2 s.
inline constexpr Duration kStallLook = std::chrono::milliseconds(100);

class StallWatch {
 public:
  // `count` returns the number of stalled services; `on_change` is called when it has changed.
  StallWatch(Loop& loop, std::function<size_t(TimePoint)> count, std::function<void()> on_change)
      : loop_(loop), count_(std::move(count)), on_change_(std::move(on_change)) {}
  ~StallWatch() { Stop(); }
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  // Looks now, and periodically from now on.
  void Start() {
    const TimePoint now = loop_.Now();
    const size_t stalled_count = count_(now);
    if (std::exchange(stalled_count_, stalled_count) != stalled_count) on_change_();
    timer_ = loop_.RunAt(NextOnGrid(now, kStallLook), [this] { Start(); });
  }
  // Idempotent.
  void Stop() {
    if (timer_ != 0) loop_.CancelTimer(std::exchange(timer_, 0));
  }

 private:
  Loop& loop_;
  const std::function<size_t(TimePoint)> count_;
  const std::function<void()> on_change_;
  size_t stalled_count_ = 0;  // at the last look
  TimerId timer_ = 0;
};

}  // namespace neptune
