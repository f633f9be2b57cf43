// When a process that died is started again: at once, then after growing pauses while it keeps
// dying.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Units: times are TimePoint.

#pragma once

#include "neptune/base/time.h"

namespace search::tools {

struct RestartOptions {
  // Pause after the second death in a row; doubles with each further one. Default: 200 ms.
  neptune::Duration pause_first = std::chrono::milliseconds(200);
  // Longest pause. Default: 10 s.
  neptune::Duration pause_max = std::chrono::seconds(10);
  // A process that ran this long is healthy: its next death counts as the first. Default: 10 s.
  neptune::Duration healthy_after = std::chrono::seconds(10);
};

class RestartPolicy {
 public:
  explicit RestartPolicy(const RestartOptions& options = {}) : options_(options) {}

  // The process that was started at `started` died at `now`: when to start it again.
  neptune::TimePoint OnDeath(neptune::TimePoint started, neptune::TimePoint now);
  int death_count() const { return death_count_; }

 private:
  const RestartOptions options_;
  int deaths_in_a_row_ = 0;
  int death_count_ = 0;
};

}  // namespace search::tools
