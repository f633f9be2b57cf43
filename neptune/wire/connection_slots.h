// The number of connections that a node accepts, over all its servers and loops, so that clients
// cannot use up the descriptors that storage, administration and calls to other nodes need.
//
//   TryTake ── below the limit ──► slot
//      └ at it: the server closes its own longest idle connection, or
//   TryBorrow ──► a slot beyond the limit, until the loop with the longest idle one closes that
//
// Threads: thread-safe; a ConnectionSlot belongs to one thread at a time.
// Limits: limit() slots are taken at once, and borrowed_count_max() more for the time that a loop
//   needs to close a connection.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"

namespace neptune {

// The idle connections of a server of one loop, as servers of other loops see them.
class IdleConnections {
 public:
  virtual ~IdleConnections() = default;

  // Has the longest idle connection closed soon, on its own loop. Any thread.
  virtual void CloseOneSoon() = 0;

  // When the time of the longest idle one began; kNever: none is idle. Published by its loop, so
  // other threads may see an older value.
  TimePoint oldest() const { return TimePoint(Duration(oldest_.load(std::memory_order_relaxed))); }
  void Publish(TimePoint oldest) {
    const Duration::rep value = oldest.time_since_epoch().count();
    if (oldest_.load(std::memory_order_relaxed) == value) return;
    oldest_.store(value, std::memory_order_relaxed);
  }

 private:
  // A line of its own, because it changes with requests of its loop.
  alignas(64) std::atomic<Duration::rep> oldest_{kNever.time_since_epoch().count()};
};

class ConnectionSlots {
 public:
  // Upper bound of borrowed_count_max(): descriptors to be reserved for them.
  static constexpr size_t kBorrowedCountMax = 64;

  explicit ConnectionSlots(size_t limit) : limit_(limit) {}
  ConnectionSlots(const ConnectionSlots&) = delete;
  ConnectionSlots& operator=(const ConnectionSlots&) = delete;

  size_t limit() const { return limit_; }
  size_t borrowed_count_max() const { return std::min(limit_ / 8, kBorrowedCountMax); }
  size_t used() const { return used_.load(std::memory_order_relaxed); }
  // Connections that got no slot, and those that were closed to give theirs to a new one.
  uint64_t refused_count() const { return refused_count_.load(std::memory_order_relaxed); }
  uint64_t evicted_count() const { return evicted_count_.load(std::memory_order_relaxed); }
  void NoteRefused() { refused_count_.fetch_add(1, std::memory_order_relaxed); }
  void NoteEvicted() { evicted_count_.fetch_add(1, std::memory_order_relaxed); }

  // A server offers its idle connections to others until it is removed.
  void Add(std::shared_ptr<IdleConnections> idle);
  void Remove(const IdleConnections* idle);
  // When the time of the longest idle connection of the servers other than `self` began.
  TimePoint OldestBeside(const IdleConnections* self) const;

 private:
  friend class ConnectionSlot;

  bool TryTake(size_t limit) {
    size_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used >= limit) return false;
    } while (!used_.compare_exchange_weak(used, used + 1, std::memory_order_relaxed));
    return true;
  }
  void GiveBack() { used_.fetch_sub(1, std::memory_order_relaxed); }
  std::shared_ptr<IdleConnections> LongestBeside(const IdleConnections* self) const;

  const size_t limit_;
  std::atomic<size_t> used_{0};
  std::atomic<uint64_t> refused_count_{0};
  std::atomic<uint64_t> evicted_count_{0};
  mutable LeafMutex mutex_;
  std::vector<std::shared_ptr<IdleConnections>> offers_ ABSL_GUARDED_BY(mutex_);
};

// A connection's place, given back on destruction.
class ConnectionSlot {
 public:
  ConnectionSlot() = default;
  ConnectionSlot(ConnectionSlot&& other) noexcept : slots_(std::move(other.slots_)) {}
  ConnectionSlot& operator=(ConnectionSlot&& other) noexcept {
    if (this == &other) return *this;
    Release();
    slots_ = std::move(other.slots_);
    return *this;
  }
  ~ConnectionSlot() { Release(); }

  // Returns false if no slot is free. `slots` null: there are no limits. REQUIRES: none is held.
  bool TryTake(const std::shared_ptr<ConnectionSlots>& slots) {
    if (slots == nullptr) return true;
    if (!slots->TryTake(slots->limit())) return false;
    slots_ = slots;
    return true;
  }
  // Takes a slot beyond the limit and has another server close its longest idle connection for it.
  // Returns false if there is none beside those of `self`, or if too many are borrowed.
  // REQUIRES: none is held, `slots` is not null.
  bool TryBorrow(const std::shared_ptr<ConnectionSlots>& slots, const IdleConnections* self);
  void Release() {
    if (slots_ != nullptr) std::exchange(slots_, nullptr)->GiveBack();
  }

 private:
  std::shared_ptr<ConnectionSlots> slots_;  // null: no slot
};

}  // namespace neptune
