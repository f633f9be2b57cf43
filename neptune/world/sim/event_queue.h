// The event queue of a simulation, ordered by virtual time.
//
// Events of equal time run in the order in which they were added; nothing else decides. Events for
// the current instant go through a plain queue instead of the heap, since most tasks are posted for
// the current instant.
//
// A four-ary heap over slots with generations, so that cancelling is O(1).
// Threads: thread-compatible.
// Units: time in nanoseconds of virtual time.
// Limits: at most kEventCountMax events at once (a CHECK: only a runaway simulation reaches it).

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/world/loop.h"

namespace neptune {

inline constexpr size_t kEventCountMax = size_t{1} << 28;

// The kind of an event; part of the trace hash.
enum class EventKind : uint8_t { kTask, kTimer, kMessage, kModel, kWork };

// The part of a host that the event queue and the loops share.
struct HostState {
  int index = 0;
  bool paused = false;
  std::vector<uint64_t> deferred;  // events that came due while paused, in order
};

// The part of a loop that the event queue needs: its host, and whether it still runs.
struct LoopState {
  HostState* host = nullptr;
  int index = 0;
  Loop* loop = nullptr;  // value of Loop::Current() while its events run
  bool stopped = false;
  bool hangs = false;
  std::vector<uint64_t> deferred{};  // events that came due while it hangs, in order
};

struct Event {
  Task task;
  // Null: an event of the model itself, which no host delays
  LoopState* loop = nullptr;
  EventKind kind = EventKind::kModel;
};

// Identifies an event in the queue; 0 is never used and ids are never reused.
using EventId = uint64_t;

class EventQueue {
 public:
  TimePoint now() const { return now_; }
  // Number of pending events, including deferred ones.
  size_t size() const { return live_count_; }

  // Adds an event at `when`, or at the current instant if `when` has passed. An event at kNever is
  // only held, and runs after Requeue.
  EventId Add(TimePoint when, Event event);
  // Drops a pending event; returns false if it has run or was dropped.
  bool Remove(EventId id);
  // Advances to the next event that is not after `limit` and returns its id. If there is none,
  // returns nullopt and does not advance.
  std::optional<EventId> PopDue(TimePoint limit);
  // Returns the event of an id from PopDue. REQUIRES: pending.
  const Event& Peek(EventId id) const { return slots_[SlotOf(id)].event; }
  // Removes and returns the event. REQUIRES: `id` came from PopDue and is pending.
  Event Take(EventId id);
  // Puts a popped event back at the current instant, behind the events there; no effect if it was
  // removed.
  void Requeue(EventId id);
  // Moves the clock to `when` without running anything. REQUIRES: no event before `when`.
  void AdvanceTo(TimePoint when);
  // Removes and returns every event for which `dropped` is true, deferred ones included, in no
  // particular order.
  std::vector<Event> RemoveIf(const std::function<bool(const Event&)>& dropped);

 private:
  struct Entry {
    TimePoint when;
    uint64_t order;
    EventId id;
    bool Before(const Entry& other) const {
      return when != other.when ? when < other.when : order < other.order;
    }
  };
  struct Slot {
    Event event;
    uint32_t generation = 1;
  };

  static uint32_t SlotOf(EventId id) { return static_cast<uint32_t>(id); }
  bool Pending(EventId id) const {
    return SlotOf(id) < slots_.size() && slots_[SlotOf(id)].generation == id >> 32;
  }
  void Release(uint32_t slot);
  void PushHeap(Entry entry);
  void PopHeap();
  void SiftDown(size_t i);
  void DropStaleTop();
  void Compact();

  TimePoint now_{};
  uint64_t next_order_ = 0;
  size_t live_count_ = 0;
  std::vector<Entry> heap_;
  // Events of the current instant, added after the heap's events of that instant
  std::deque<EventId> ready_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace neptune
