#include "neptune/base/memory_budget.h"

#include <algorithm>
#include <utility>

namespace neptune {

std::string_view NameOf(MemoryUse use) {
  switch (use) {
    case MemoryUse::kRequests:
      return "requests";
    case MemoryUse::kAnswers:
      return "answers";
    case MemoryUse::kCalls:
      return "calls";
    case MemoryUse::kStreams:
      return "streams";
    case MemoryUse::kHttp:
      return "http";
    case MemoryUse::kSnapshots:
      return "snapshots";
  }
  return "";
}

size_t MemoryBudget::EndOf(MemoryRank rank) const {
  switch (rank) {
    case MemoryRank::kOrdinary:
      return size_ - reserve_;
    case MemoryRank::kSmall:
      return size_ - reserve_ / 2;
    case MemoryRank::kControl:
      return size_;
  }
  return 0;
}

bool MemoryBudget::Fits(size_t used, size_t held, size_t more, MemoryRank rank) const {
  const size_t end = EndOf(rank);
  if (used > end || more > end - used) return false;
  if (rank == MemoryRank::kControl) return true;
  const size_t after = held + more;
  return after <= std::max(kSmallHolding, (end - used) / kShareDivisor);
}

size_t MemoryBudget::LargestCharge(MemoryRank rank) const {
  const size_t end = EndOf(rank);
  const size_t free = end - std::min(end, used());
  if (rank == MemoryRank::kControl) return free;
  return std::min(free, std::max(kSmallHolding, free / kShareDivisor));
}

bool MemoryBudget::TryTake(MemoryUse use, size_t held, size_t more, MemoryRank rank) {
  size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (!Fits(used, held, more, rank)) return false;
  } while (!used_.compare_exchange_weak(used, used + more, std::memory_order_relaxed));
  uses_[IndexOf(use)].fetch_add(more, std::memory_order_relaxed);
  return true;
}

void MemoryBudget::GiveBack(MemoryUse use, size_t size) {
  uses_[IndexOf(use)].fetch_sub(size, std::memory_order_relaxed);
  used_.fetch_sub(size, std::memory_order_relaxed);
}

void MemoryCharge::ShrinkTo(size_t size) {
  if (size >= size_) return;
  share_->GiveBack(use_, size_ - size);
  size_ = size;
  if (size_ == 0) share_.reset();
}

bool MemoryShare::TryCharge(MemoryUse use, size_t more, MemoryRank rank, MemoryCharge* charge) {
  if (more == 0) return true;
  // Charges of one owner on several threads may together exceed the share by one charge each.
  if (!budget_->TryTake(use, held(), more, rank)) return false;
  held_.fetch_add(more, std::memory_order_relaxed);
  if (charge->share_ == nullptr) charge->share_ = shared_from_this();
  charge->use_ = use;
  charge->size_ += more;
  return true;
}

void MemoryShare::GiveBack(MemoryUse use, size_t size) {
  held_.fetch_sub(size, std::memory_order_relaxed);
  budget_->GiveBack(use, size);
}

bool SteppedCharge::Add(size_t size, MemoryRank rank) {
  // A size of several steps is charged as it is, so that a large item needs no more than its bytes.
  const size_t more = size - charge_.size();
  if (more < kStep && share_->TryCharge(use_, kStep, rank, &charge_)) return true;
  return share_->TryCharge(use_, more, rank, &charge_);
}

}  // namespace neptune
