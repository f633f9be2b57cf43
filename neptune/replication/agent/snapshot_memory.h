// What one transfer of a snapshot has in memory at either end, charged to its node's budget.
//
//   Reserve ─► the next chunk is made, or fetched ─► Keep, or nothing is kept ─► Reserve ...
//
// A refusal does not end the transfer: the chunk is asked for again later.
//
// Threads: thread-compatible.
// Units: bytes.
// Errors: kResourceExhausted the budget has no room now; it counts as a refusal.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "neptune/base/memory_budget.h"
#include "neptune/base/status.h"

namespace neptune {

class SnapshotMemory {
 public:
  // `budget` null: nothing is charged.
  explicit SnapshotMemory(const std::shared_ptr<MemoryBudget>& budget)
      : share_(MemoryShare::Of(budget)) {}

  // Makes the charge cover `size` bytes.
  Status Reserve(size_t size) { return Cover(size, MemoryRank::kOrdinary); }
  // The same for a log entry that exceeds a chunk. It was accepted as a write, so it does not wait
  // for other large ones.
  Status ReserveLarge(size_t size) { return Cover(size, MemoryRank::kControl); }
  // Gives back all but `size` bytes.
  void Keep(size_t size) { charge_.ShrinkTo(size); }

 private:
  Status Cover(size_t size, MemoryRank rank) {
    const size_t more = size - std::min(size, charge_.size());
    if (share_ == nullptr || share_->TryCharge(MemoryUse::kSnapshots, more, rank, &charge_)) {
      return OkStatus();
    }
    share_->budget().NoteRefusal(MemoryUse::kSnapshots);
    return ResourceExhausted("the node has no memory for a chunk of a snapshot now");
  }

  std::shared_ptr<MemoryShare> share_;
  MemoryCharge charge_;
};

}  // namespace neptune
