// Whether an open partition may be served, and why not.
//
//   not open ──SetServed──► served ──NoteDamage──► damaged ──SetServed──► served
//
// Threads: thread-safe. Reading the state of a partition that is served takes no lock.

#pragma once

#include <atomic>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"

namespace search::index {

class PartitionState {
 public:
  // OK: it is served.
  neptune::Status Get() const {
    if (is_served_.load(std::memory_order_acquire)) return neptune::OkStatus();
    neptune::LeafLock lock(&mutex_);
    return why_;
  }
  void SetServed() { is_served_.store(true, std::memory_order_release); }
  // Why it is not served; no effect on whether it is.
  void NoteFailure(const neptune::Status& why) {
    neptune::LeafLock lock(&mutex_);
    why_ = why;
  }
  // It is no longer served. False: it was not before.
  bool NoteDamage(const neptune::Status& damage) {
    neptune::LeafLock lock(&mutex_);
    if (!is_served_.exchange(false)) return false;
    why_ = damage;
    return true;
  }

 private:
  std::atomic<bool> is_served_{false};
  mutable neptune::LeafMutex mutex_;
  neptune::Status why_ ABSL_GUARDED_BY(mutex_) = neptune::Unavailable("not opened");
};

}  // namespace search::index
