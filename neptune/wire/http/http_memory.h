// What one HTTP connection is charged for: the request that arrives and those in progress, and the
// responses that the client has not read. Internal to http_server.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Limits: the connection's share of the node's memory budget; each refusal is counted.

#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "neptune/base/memory_budget.h"

namespace neptune {

class HttpMemory {
 public:
  // `budget` null: nothing is charged.
  explicit HttpMemory(const std::shared_ptr<MemoryBudget>& budget)
      : share_(MemoryShare::Of(budget)),
        received_charge_(share_, MemoryUse::kHttp),
        unsent_charge_(share_, MemoryUse::kHttp) {}

  // Bytes arrived; false: they find no memory, and the request must be refused.
  bool Receive(size_t size) {
    received_size_ += size;
    const MemoryRank rank =
        received_size_ <= MemoryBudget::kSmallHolding ? MemoryRank::kSmall : MemoryRank::kOrdinary;
    return received_charge_.Cover(received_size_, rank) || Refuse();
  }
  // What was received belongs to a request in progress.
  void BeginRequest() { received_size_ = 0; }
  // No request is in progress.
  void EndRequests() { received_charge_.Settle(received_size_); }

  // A response is about to be written, with `unsent_size` bytes before it; false: it finds no
  // memory, and must be replaced by a small one.
  bool Send(size_t size, size_t unsent_size) {
    if (size <= SteppedCharge::kFreeSize) return true;
    if (unsent_size == 0) unsent_charge_.Settle(0);
    return unsent_charge_.Cover(unsent_size + size, MemoryRank::kOrdinary) || Refuse();
  }
  bool has_unsent() const { return unsent_charge_.size() > 0; }
  void NoteDrained() { unsent_charge_.Settle(0); }

  void Release() {
    received_charge_.Settle(0);
    unsent_charge_.Settle(0);
  }

 private:
  bool Refuse() {
    share_->budget().NoteRefusal(MemoryUse::kHttp);
    return false;
  }

  const std::shared_ptr<MemoryShare> share_;  // null: nothing is charged
  SteppedCharge received_charge_;
  SteppedCharge unsent_charge_;
  size_t received_size_ = 0;  // since the last request was taken
};

}  // namespace neptune
