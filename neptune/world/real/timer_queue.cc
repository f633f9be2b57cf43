#include "neptune/world/real/timer_queue.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// Cancelled entries stay in the heap until they outnumber the live ones by this number.
constexpr size_t kSlack = 64;

}  // namespace

TimerId TimerQueue::Add(TimePoint when, Task task) {
  const TimerId id = next_id_++;
  tasks_.emplace(id, std::move(task));
  heap_.push_back({when, id});
  std::push_heap(heap_.begin(), heap_.end());
  return id;
}

bool TimerQueue::Cancel(TimerId timer) {
  if (tasks_.erase(timer) == 0) return false;
  if (heap_.size() > 2 * tasks_.size() + kSlack) {
    std::erase_if(heap_, [&](const Entry& entry) { return !tasks_.contains(entry.id); });
    std::make_heap(heap_.begin(), heap_.end());
  }
  return true;
}

void TimerQueue::DropCancelled() {
  while (!heap_.empty() && !tasks_.contains(heap_.front().id)) {
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
}

TimePoint TimerQueue::NextTime() {
  DropCancelled();
  return heap_.empty() ? kNever : heap_.front().when;
}

std::optional<Task> TimerQueue::PopDue(TimePoint now) {
  DropCancelled();
  if (heap_.empty() || heap_.front().when > now) return std::nullopt;
  auto node = tasks_.extract(heap_.front().id);
  std::pop_heap(heap_.begin(), heap_.end());
  heap_.pop_back();
  return std::move(node.mapped());
}

}  // namespace neptune
