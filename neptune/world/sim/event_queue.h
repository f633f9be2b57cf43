// The one queue of a simulation: what happens next, in virtual time.
//
// Events of equal time run in the order in which they were added; nothing else decides. Events for
// the current instant go through a plain queue instead of the heap, since most tasks are "soon".
//
// A four-ary heap over slots with generations, so that cancelling is O(1).
// Threads: thread-compatible.
// Units: time in nanoseconds of virtual time.
// Limits: at most kEventCountMax events at once (a CHECK: only a runaway simulation gets there).

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

// What an event is, for the trace hash.
enum class EventKind : uint8_t { kTask, kTimer, kMessage, kModel, kWork };

// The part of a host that the event queue and the loops share.
struct HostState {
  int index = 0;
  bool paused = false;
  std::vector<uint64_t> deferred;  // events that came due while paused, in order
};

// The part of a loop that the event queue needs: whose it is, and whether it still runs.
struct LoopState {
  HostState* host = nullptr;
  int index = 0;
  Loop* loop = nullptr;  // what Loop::Current() is while its events run
  bool stopped = false;
};

struct Event {
  Task task;
  LoopState* loop = nullptr;  // null: an event of the model itself, which no host's pause delays
  EventKind kind = EventKind::kModel;
};

// Names an event in the queue; 0 is never given out and an id is never used again.
using EventId = uint64_t;

class EventQueue {
 public:
  TimePoint now() const { return now_; }
  // Events that are still to run, deferred ones included.
  size_t size() const { return live_count_; }

  // Adds an event at `when`, or at once if that has passed. At kNever it is only held: it runs if
  // it is requeued.
  EventId Add(TimePoint when, Event event);
  // Drops a pending event; false if it ran or was dropped.
  bool Remove(EventId id);
  // Advances to the next event not after `limit` and names it; nothing and no advance if there is
  // none.
  std::optional<EventId> PopDue(TimePoint limit);
  // The event behind an id from PopDue. REQUIRES: pending.
  const Event& Peek(EventId id) const { return slots_[SlotOf(id)].event; }
  // Takes the event out. REQUIRES: `id` came from PopDue and is pending.
  Event Take(EventId id);
  // Puts a popped event back at the current instant, after what is there; nothing if it was
  // removed.
  void Requeue(EventId id);
  // Moves the clock to `when` without running anything. REQUIRES: no event before `when`.
  void AdvanceTo(TimePoint when);
  // Takes out every event `dropped` holds for, deferred ones too, in no particular order.
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
  std::deque<EventId> ready_;  // all of the current instant, newer than the heap's of that instant
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace neptune
