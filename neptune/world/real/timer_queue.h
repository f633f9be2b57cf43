// Pending timers of one loop, ordered by time, then by creation; cancelling is lazy.
//
//   Add ─► slot with the task, entry in a heap        Cancel: frees the slot; the entry, which then
//          └── TimerId: slot and number of the timer  matches no slot, goes when it comes up or when
//                                                     such entries are the majority
//
// No clock of its own.
// Threads: thread-compatible.
// Limits: kTimerCountMax live timers; more are a bug. Memory is bounded by twice the largest number
//   of live timers since the queue was last empty, plus a constant.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "neptune/world/loop.h"

namespace neptune {

inline constexpr size_t kTimerCountMax = size_t{1} << 24;

class TimerQueue {
 public:
  TimerId Add(TimePoint when, Task task);
  bool Cancel(TimerId timer);
  // Time of the first live timer, or kNever.
  TimePoint NextTime();
  // Removes and returns the first live timer that is due at `now`.
  std::optional<Task> PopDue(TimePoint now);
  size_t live_count() const { return live_count_; }

 private:
  static constexpr int kSlotBits = 24;
  static constexpr uint32_t kNoSlot = ~uint32_t{0};

  struct Slot {
    uint64_t number = 0;  // of its timer, 1 for the first that was made; 0: free
    uint32_t next_free = kNoSlot;
    Task task;
  };
  struct Entry {
    TimePoint when;
    uint64_t number;
    uint32_t slot;
    // std::push_heap keeps the largest on top: the later entry is the smaller one.
    bool operator<(const Entry& other) const {
      return when != other.when ? when > other.when : number > other.number;
    }
  };

  // The low bits of a timer's number fit beside its slot. They repeat after 2^40 timers, and for a
  // timer to be taken for another one it must also have been in the same slot.
  static TimerId IdOf(uint64_t number, uint32_t slot) { return number << kSlotBits | slot; }
  bool IsLive(const Entry& entry) const { return slots_[entry.slot].number == entry.number; }
  // Frees the slot and returns its task.
  Task Release(uint32_t slot);
  void DropCancelled();
  void PopEntry();

  uint64_t next_number_ = 1;
  size_t live_count_ = 0;
  uint32_t first_free_ = kNoSlot;
  std::vector<Slot> slots_;
  std::vector<Entry> heap_;
};

}  // namespace neptune
