// What HTTP connections are charged for: requests that arrive and those in progress, and responses
// that clients have not read. Internal to http_server.
//
//   up to 16 KiB each way    in the sum of all connections of the loop (HttpSmallMemory)
//   more                     in a share of the connection's own
//
// A connection that holds little costs no share, and tens of thousands of them are charged still.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Limits: the node's memory budget, and the connection's share of it; each refusal is counted.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "neptune/base/memory_budget.h"

namespace neptune {

// The sum of what the connections of a loop hold that is too little for a charge of its own.
class HttpSmallMemory {
 public:
  // Larger holdings have a charge of their own.
  static constexpr size_t kSizeMax = SteppedCharge::kFreeSize;

  // `budget` null: nothing is charged.
  explicit HttpSmallMemory(const std::shared_ptr<MemoryBudget>& budget)
      : budget_(budget), charge_(MemoryShare::Of(budget), MemoryUse::kHttp) {}

  // A connection holds `to` bytes rather than `from`; false: the node has no memory for them. They
  // count still.
  bool Change(size_t from, size_t to) {
    size_ += to - from;
    if (to > from) return charge_.Cover(size_, MemoryRank::kSmall);
    charge_.Settle(size_);
    return true;
  }
  size_t size() const { return size_; }
  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }

 private:
  const std::shared_ptr<MemoryBudget> budget_;  // null: nothing is charged
  SteppedCharge charge_;
  size_t size_ = 0;
};

class HttpMemory {
 public:
  // `small` outlives this.
  explicit HttpMemory(HttpSmallMemory& small) : small_(small) {}
  HttpMemory(const HttpMemory&) = delete;
  HttpMemory& operator=(const HttpMemory&) = delete;
  ~HttpMemory() { Release(); }

  // Bytes arrived; false: they find no memory, and the request must be refused.
  bool Receive(size_t size) {
    received_size_ += size;
    const bool fits = UpdateSmall();
    if (received_size_ <= HttpSmallMemory::kSizeMax || small_.budget() == nullptr) {
      return fits || Refuse();
    }
    const MemoryRank rank =
        received_size_ <= MemoryBudget::kSmallHolding ? MemoryRank::kSmall : MemoryRank::kOrdinary;
    return own().received.Cover(received_size_, rank) || Refuse();
  }
  // What was received belongs to a request in progress.
  void BeginRequest() {
    received_size_ = 0;
    UpdateSmall();
  }
  // No request is in progress.
  void EndRequests() {
    if (own_ == nullptr) return;
    own_->received.Settle(received_size_);
    if (own_->received.size() == 0 && own_->unsent.size() == 0) own_.reset();
  }

  // A response is about to be written, with `unsent_size` bytes before it; false: it finds no
  // memory, and must be replaced by a small one.
  bool Send(size_t size, size_t unsent_size) {
    unsent_size_ = unsent_size + size;
    const bool fits = UpdateSmall();
    if (size <= HttpSmallMemory::kSizeMax || small_.budget() == nullptr) return fits || Refuse();
    if (unsent_size == 0 && own_ != nullptr) own_->unsent.Settle(0);
    return own().unsent.Cover(unsent_size_, MemoryRank::kOrdinary) || Refuse();
  }
  // True if the end of an unread response is to be noticed.
  bool has_unsent() const { return own_ != nullptr && own_->unsent.size() > 0; }
  void NoteDrained() {
    unsent_size_ = 0;
    UpdateSmall();
    if (own_ != nullptr) own_->unsent.Settle(0);
  }

  // True if the last charges found no memory since the last call.
  bool ConsumeRefused() { return std::exchange(refused_, false); }

  void Release() {
    received_size_ = 0;
    NoteDrained();
    own_.reset();
  }

 private:
  struct Own {
    explicit Own(const std::shared_ptr<MemoryShare>& share)
        : received(share, MemoryUse::kHttp), unsent(share, MemoryUse::kHttp) {}
    SteppedCharge received;
    SteppedCharge unsent;
  };

  Own& own() {
    if (own_ == nullptr) own_ = std::make_unique<Own>(MemoryShare::Of(small_.budget()));
    return *own_;
  }
  bool UpdateSmall() {
    const size_t size = std::min(received_size_, HttpSmallMemory::kSizeMax) +
                        std::min(unsent_size_, HttpSmallMemory::kSizeMax);
    const size_t before = std::exchange(small_size_, size);
    return before == size || small_.Change(before, size);
  }
  bool Refuse() {
    refused_ = true;
    small_.budget()->NoteRefusal(MemoryUse::kHttp);
    return false;
  }

  HttpSmallMemory& small_;
  size_t received_size_ = 0;  // since the last request was taken
  size_t unsent_size_ = 0;    // when the last response was written; 0: all is read
  size_t small_size_ = 0;     // this connection's part of small_
  bool refused_ = false;
  std::unique_ptr<Own> own_;  // null: little is held
};

}  // namespace neptune
