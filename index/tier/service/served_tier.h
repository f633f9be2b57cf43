// The tier of a partition as its service sees it: open, or not yet and why, or found damaged.
//
// Threads: thread-safe. Once a tier is set it stays for as long as this object.

#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "index/tier/index_tier.h"
#include "index/versions/partition_state.h"
#include "neptune/base/status.h"

namespace search::index {

class ServedTier {
 public:
  // OK: there is a tier to be served.
  neptune::Status State() const { return state_.Get(); }
  // Null: it is not open.
  const IndexTier* tier() const { return serving_.load(std::memory_order_acquire); }

  // REQUIRES: there is no tier yet.
  void Set(std::unique_ptr<IndexTier> tier) {
    owned_ = std::move(tier);
    serving_.store(owned_.get(), std::memory_order_release);
    state_.SetServed();
  }
  void NoteFailure(const neptune::Status& failure) { state_.NoteFailure(failure); }
  // False: it was not served before.
  bool NoteDamage(const neptune::Status& damage) { return state_.NoteDamage(damage); }
  // The tier has replaced what was damaged.
  void NoteMended() { state_.SetServed(); }

 private:
  PartitionState state_;
  std::unique_ptr<IndexTier> owned_;  // set once
  std::atomic<const IndexTier*> serving_{nullptr};
};

}  // namespace search::index
