// Limits the number of snapshots that a node sends, or restores, at a time.
//
// Threads: thread-safe.
// Errors: kResourceExhausted all places are taken.

#pragma once

#include <atomic>
#include <memory>

#include "neptune/base/status.h"

namespace neptune {

class SnapshotPlaces {
 public:
  explicit SnapshotPlaces(int count)
      : free_(std::make_shared<std::atomic<int>>(count)), count_(count) {}

  // Takes a place, which is freed when the last copy of the result is destroyed. `what` is the verb
  // for the error, e.g. "sends".
  StatusOr<std::shared_ptr<const void>> Take(const char* what) {
    if (free_->fetch_sub(1) > 0) {
      return std::shared_ptr<const void>(free_.get(), [free = free_](const void*) { ++*free; });
    }
    ++*free_;
    return ResourceExhausted("this node ", what, " ", count_, " snapshots already");
  }

 private:
  const std::shared_ptr<std::atomic<int>> free_;
  const int count_;
};

}  // namespace neptune
