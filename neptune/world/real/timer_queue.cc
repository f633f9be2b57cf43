#include "neptune/world/real/timer_queue.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// Cancelled entries stay in the heap until they outnumber the live ones by this number.
constexpr size_t kSlack = 64;
// An empty queue keeps room for this many timers.
constexpr size_t kSpareCountMax = 4096;

}  // namespace

TimerId TimerQueue::Add(TimePoint when, Task task) {
  if (first_free_ == kNoSlot) {
    CHECK_LT(slots_.size(), kTimerCountMax) << "too many timers of one loop";
    first_free_ = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  if (IdOf(next_number_, 0) == 0) ++next_number_;  // the low bits have wrapped around
  const uint64_t number = next_number_++;
  const uint32_t index = first_free_;
  Slot& slot = slots_[index];
  first_free_ = slot.next_free;
  slot.number = number;
  slot.task = std::move(task);
  ++live_count_;
  heap_.push_back({when, number, index});
  std::push_heap(heap_.begin(), heap_.end());
  return IdOf(number, index);
}

Task TimerQueue::Release(uint32_t index) {
  Slot& slot = slots_[index];
  slot.number = 0;
  slot.next_free = std::exchange(first_free_, index);
  --live_count_;
  return std::exchange(slot.task, nullptr);
}

bool TimerQueue::Cancel(TimerId timer) {
  const auto index = static_cast<uint32_t>(timer & ((uint64_t{1} << kSlotBits) - 1));
  if (index >= slots_.size()) return false;
  const uint64_t number = slots_[index].number;
  if (number == 0 || IdOf(number, index) != timer) return false;
  const Task cancelled = Release(index);  // destroyed last: it may own something that adds timers
  if (heap_.size() > 2 * live_count_ + kSlack) {
    std::erase_if(heap_, [this](const Entry& entry) { return !IsLive(entry); });
    std::make_heap(heap_.begin(), heap_.end());
  }
  return true;
}

void TimerQueue::PopEntry() {
  std::pop_heap(heap_.begin(), heap_.end());
  heap_.pop_back();
}

void TimerQueue::DropCancelled() {
  while (!heap_.empty() && !IsLive(heap_.front())) PopEntry();
  if (!heap_.empty() || slots_.size() <= kSpareCountMax) return;
  std::vector<Slot>().swap(slots_);
  std::vector<Entry>().swap(heap_);
  first_free_ = kNoSlot;
}

TimePoint TimerQueue::NextTime() {
  DropCancelled();
  return heap_.empty() ? kNever : heap_.front().when;
}

std::optional<Task> TimerQueue::PopDue(TimePoint now) {
  DropCancelled();
  if (heap_.empty() || heap_.front().when > now) return std::nullopt;
  const uint32_t slot = heap_.front().slot;
  PopEntry();
  return Release(slot);
}

}  // namespace neptune
