// Virtual processors of a real node: work waits in order for one of k processors and only takes
// wall-clock time.
//
// No thread spins, so a machine can hold more nodes than it has processors; their code and messages
// still cost real time.
// Work begins when a virtual processor is free, not when its thread notices, so late wake-ups do
// not add up.
//
// Source: [Chu03] 5.1 (non-preemptive FIFO, k processors), in real time.
// Threads: thread-safe.
// Limits: suited to work of milliseconds; running code is not interrupted and does not compete with
//   it.

#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/world/world.h"

namespace neptune {

class EmulatedProcessors final : public Processors {
 public:
  // REQUIRES: count >= 1.
  explicit EmulatedProcessors(int count) : count_(count), free_at_(static_cast<size_t>(count)) {}

  void Execute(Loop& loop, Duration cost, Task done) override {
    loop.RunAt(Book(loop.Now(), std::max(cost, Duration(0))), std::move(done));
  }
  int count() const override { return count_; }

 private:
  // Returns the completion time of work that arrives now, on the processor that is free first.
  TimePoint Book(TimePoint now, Duration cost) {
    LeafLock lock(&mutex_);
    TimePoint& free_at = *std::min_element(free_at_.begin(), free_at_.end());
    free_at = std::max(free_at, now) + cost;
    return free_at;
  }

  LeafMutex mutex_;
  const int count_;
  std::vector<TimePoint> free_at_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
