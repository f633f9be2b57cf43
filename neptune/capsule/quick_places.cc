#include "neptune/capsule/quick_places.h"

#include <algorithm>

namespace neptune {
namespace {

// Weight of a new time in the moving average.
constexpr double kTimeWeight = 0.05;

}  // namespace

QuickPlaces::~QuickPlaces() {
  for (const auto& block : blocks_) delete block.load(std::memory_order_acquire);
}

void QuickPlaces::Set(bool may_enter, size_t resident_count_max, Duration timeout) {
  const size_t lease_count_max = resident_count_max / kShareDivisor;
  if (leased_count_ > 0 && (!may_enter || lease_count_max < leased_count_)) {
    is_closed_for_good_ = true;
  }
  lease_count_max_ = lease_count_max;
  timeout_ns_.store(timeout.count(), std::memory_order_relaxed);
  open_.store(may_enter && !is_closed_for_good_, std::memory_order_relaxed);
  NoteLeases();
}

void QuickPlaces::Close() {
  open_.store(false, std::memory_order_relaxed);
  NoteLeases();
}

bool QuickPlaces::Lease() {
  const size_t thread = ThreadNumber();
  if (!may_lease() || thread == kThreadNumberCount) return false;
  Block* own = blocks_[thread].load(std::memory_order_acquire);
  if (own == nullptr) {
    own = new Block();
    blocks_[thread].store(own, std::memory_order_release);
  }
  own->free_count += kLeaseSize;
  leased_count_ += kLeaseSize;
  NoteLeases();
  return true;
}

size_t QuickPlaces::reserved_count() const {
  if (leased_count_ == 0 || !is_closed_for_good_) return leased_count_;
  return Sum().resident_count;
}

QuickPlaces::Totals QuickPlaces::Sum() const {
  Totals totals;
  double done_count = 0;
  for (const auto& one : blocks_) {
    const Block* const block = one.load(std::memory_order_acquire);
    if (block == nullptr) continue;
    uint64_t left = 0;
    for (size_t outcome = 0; outcome < totals.left.size(); ++outcome) {
      const uint64_t count = block->left[outcome].load(std::memory_order_relaxed);
      totals.left[outcome] += count;
      left += count;
    }
    const uint64_t entered = block->entered.load(std::memory_order_relaxed);
    totals.entered += entered;
    totals.resident_count += entered > left ? entered - left : 0;
    totals.resident_count_max += block->resident_count_max.load(std::memory_order_relaxed);
    totals.entered_sum_ns += block->entered_sum_ns.load(std::memory_order_relaxed);
    const auto weight = static_cast<double>(DoneCount(*block));
    if (weight == 0) continue;
    done_count += weight;
    totals.done_time_ns += (MeanTime(*block) - totals.done_time_ns) * weight / done_count;
  }
  return totals;
}

double QuickPlaces::MeanTime(const Block& block) {
  const uint64_t count = DoneCount(block);
  double mean = 0;
  for (uint64_t i = count - std::min<uint64_t>(count, kTimeCount); i < count; ++i) {
    const auto time =
        static_cast<double>(block.times_ns[i % kTimeCount].load(std::memory_order_relaxed));
    const bool is_first = i + kTimeCount == count || i == 0;
    mean += (time - mean) * (is_first ? 1 : kTimeWeight);
  }
  return mean;
}

void QuickPlaces::AddTimesTo(RecentTimes* times) const {
  for (const auto& one : blocks_) {
    const Block* const block = one.load(std::memory_order_acquire);
    if (block == nullptr) continue;
    for (size_t i = 0; i < std::min<uint64_t>(DoneCount(*block), kTimeCount); ++i) {
      times->Add(Duration(block->times_ns[i].load(std::memory_order_relaxed)));
    }
  }
}

}  // namespace neptune
