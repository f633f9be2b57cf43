#include "neptune/world/sim/event_queue.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

constexpr size_t kArity = 4;

}  // namespace

EventId EventQueue::Add(TimePoint when, Event event) {
  uint32_t slot;
  if (free_.empty()) {
    CHECK_LT(slots_.size(), kEventCountMax) << "simulation holds too many events";
    slot = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_[slot].event = std::move(event);
  ++live_count_;
  const EventId id = uint64_t{slots_[slot].generation} << 32 | slot;
  if (when == kNever) return id;
  if (when <= now_) {
    ready_.push_back(id);
  } else {
    PushHeap({when, next_order_++, id});
  }
  return id;
}

bool EventQueue::Remove(EventId id) {
  if (!Pending(id)) return false;
  // The task may own objects that add or remove events, so it is destroyed after the queue is
  // consistent.
  const Event removed = Take(id);
  if (heap_.size() + ready_.size() > 64 + 4 * live_count_) Compact();
  return true;
}

std::optional<EventId> EventQueue::PopDue(TimePoint limit) {
  DropStaleTop();
  if (heap_.empty() || heap_.front().when > now_) {
    while (!ready_.empty()) {
      const EventId id = ready_.front();
      ready_.pop_front();
      if (Pending(id)) return id;
    }
  }
  if (heap_.empty() || heap_.front().when > limit) return std::nullopt;
  const Entry next = heap_.front();
  PopHeap();
  now_ = next.when;
  return next.id;
}

Event EventQueue::Take(EventId id) {
  const uint32_t slot = SlotOf(id);
  Event event = std::move(slots_[slot].event);
  Release(slot);
  return event;
}

void EventQueue::Requeue(EventId id) {
  if (Pending(id)) ready_.push_back(id);
}

void EventQueue::AdvanceTo(TimePoint when) {
  if (when > now_) now_ = when;
}

std::vector<Event> EventQueue::RemoveIf(const std::function<bool(const Event&)>& dropped) {
  std::vector<Event> removed;
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (!slots_[slot].event.task || !dropped(slots_[slot].event)) continue;
    removed.push_back(std::move(slots_[slot].event));
    Release(slot);
  }
  return removed;
}

void EventQueue::Release(uint32_t slot) {
  slots_[slot].event = Event();
  if (++slots_[slot].generation == 0) slots_[slot].generation = 1;
  free_.push_back(slot);
  --live_count_;
}

void EventQueue::PushHeap(Entry entry) {
  size_t i = heap_.size();
  heap_.push_back(entry);
  while (i > 0) {
    const size_t parent = (i - 1) / kArity;
    if (!entry.Before(heap_[parent])) break;
    heap_[i] = heap_[parent];
    i = parent;
  }
  heap_[i] = entry;
}

void EventQueue::PopHeap() {
  heap_.front() = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) SiftDown(0);
}

void EventQueue::SiftDown(size_t i) {
  const Entry entry = heap_[i];
  while (true) {
    const size_t first = i * kArity + 1;
    if (first >= heap_.size()) break;
    const size_t end = std::min(first + kArity, heap_.size());
    size_t least = first;
    for (size_t child = first + 1; child < end; ++child) {
      if (heap_[child].Before(heap_[least])) least = child;
    }
    if (!heap_[least].Before(entry)) break;
    heap_[i] = heap_[least];
    i = least;
  }
  heap_[i] = entry;
}

void EventQueue::DropStaleTop() {
  while (!heap_.empty() && !Pending(heap_.front().id)) PopHeap();
}

// Drops the entries of removed events, so that timers that are always cancelled cost no memory.
void EventQueue::Compact() {
  std::erase_if(heap_, [this](const Entry& entry) { return !Pending(entry.id); });
  std::erase_if(ready_, [this](EventId id) { return !Pending(id); });
  for (size_t i = heap_.size() / kArity + 1; i-- > 0;) {
    if (i < heap_.size()) SiftDown(i);
  }
}

}  // namespace neptune
