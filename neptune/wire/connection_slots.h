// The number of connections that a node accepts, over all its servers and loops, so that clients
// cannot use up the descriptors that storage, administration and calls to other nodes need.
//
// Threads: thread-safe; a ConnectionSlot belongs to one thread at a time.
// Limits: limit() slots are taken at once.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace neptune {

class ConnectionSlots {
 public:
  explicit ConnectionSlots(size_t limit) : limit_(limit) {}
  ConnectionSlots(const ConnectionSlots&) = delete;
  ConnectionSlots& operator=(const ConnectionSlots&) = delete;

  size_t limit() const { return limit_; }
  size_t used() const { return used_.load(std::memory_order_relaxed); }
  // Connections that got no slot, and idle ones that were closed to give theirs to a new one.
  uint64_t refused_count() const { return refused_count_.load(std::memory_order_relaxed); }
  uint64_t evicted_count() const { return evicted_count_.load(std::memory_order_relaxed); }
  void NoteRefused() { refused_count_.fetch_add(1, std::memory_order_relaxed); }
  void NoteEvicted() { evicted_count_.fetch_add(1, std::memory_order_relaxed); }

 private:
  friend class ConnectionSlot;

  bool TryTake() {
    size_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used >= limit_) return false;
    } while (!used_.compare_exchange_weak(used, used + 1, std::memory_order_relaxed));
    return true;
  }
  void GiveBack() { used_.fetch_sub(1, std::memory_order_relaxed); }

  const size_t limit_;
  std::atomic<size_t> used_{0};
  std::atomic<uint64_t> refused_count_{0};
  std::atomic<uint64_t> evicted_count_{0};
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
    if (!slots->TryTake()) return false;
    slots_ = slots;
    return true;
  }
  void Release() {
    if (slots_ != nullptr) std::exchange(slots_, nullptr)->GiveBack();
  }

 private:
  std::shared_ptr<ConnectionSlots> slots_;  // null: no slot
};

}  // namespace neptune
