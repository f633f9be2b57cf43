// The tier of a partition as its service sees it: open, or not yet and why, or found damaged.
//
// Threads: thread-safe. Once a tier is set it stays for as long as this object.

#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "index/tier/index_tier.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"

namespace search::index {

class ServedTier {
 public:
  // OK: there is a tier to be served.
  neptune::Status State() const {
    if (damaged_) return neptune::DataLoss("damage was found while serving");
    if (tier() != nullptr) return neptune::OkStatus();
    neptune::LeafLock lock(&mutex_);
    return failure_;
  }
  // Null: it is not open.
  const IndexTier* tier() const { return serving_.load(std::memory_order_acquire); }

  // REQUIRES: there is no tier yet.
  void Set(std::unique_ptr<IndexTier> tier) {
    owned_ = std::move(tier);
    serving_.store(owned_.get(), std::memory_order_release);
  }
  void NoteFailure(const neptune::Status& failure) {
    neptune::LeafLock lock(&mutex_);
    failure_ = failure;
  }
  // True: it was not known to be damaged before.
  bool NoteDamage() { return !damaged_.exchange(true); }

 private:
  std::atomic<bool> damaged_{false};
  std::unique_ptr<IndexTier> owned_;  // set once
  std::atomic<const IndexTier*> serving_{nullptr};
  mutable neptune::LeafMutex mutex_;
  neptune::Status failure_ ABSL_GUARDED_BY(mutex_) = neptune::Unavailable("not opened");
};

}  // namespace search::index
