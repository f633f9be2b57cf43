// Pending timers of one loop, ordered by time, then by creation; cancelling is lazy.
//
// No clock of its own.
// Threads: thread-compatible.
// Limits: memory is bounded by twice the number of live timers plus a constant.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "neptune/world/loop.h"

namespace neptune {

class TimerQueue {
 public:
  TimerId Add(TimePoint when, Task task);
  bool Cancel(TimerId timer);
  // Time of the first live timer, or kNever.
  TimePoint NextTime();
  // Removes and returns the first live timer that is due at `now`.
  std::optional<Task> PopDue(TimePoint now);
  size_t live_count() const { return tasks_.size(); }

 private:
  struct Entry {
    TimePoint when;
    TimerId id;
    // std::push_heap keeps the largest on top: the later entry is the smaller one.
    bool operator<(const Entry& other) const {
      return when != other.when ? when > other.when : id > other.id;
    }
  };
  void DropCancelled();

  TimerId next_id_ = 1;
  std::vector<Entry> heap_;
  absl::flat_hash_map<TimerId, Task> tasks_;
};

}  // namespace neptune
