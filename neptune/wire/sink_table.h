// The calls in flight of one connection: which sink waits for which number. Internal to
// client_connection.
//
// Calls have increasing numbers and mostly end soon, so a call is kept in the slot that its number
// names, and found without a search. A call that lives on while its slot comes up again is moved to
// a map, as a stream or a slow call is.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Limits: none of its own; memory is bounded by the largest number of calls at a time.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace neptune {

class AnswerSink;

class SinkTable {
 public:
  // REQUIRES: `call` is larger than the number of every call before, and not 0; `sink` is not null.
  void Add(uint64_t call, AnswerSink* sink) {
    if (slots_.size() <= 2 * size_ && slots_.size() < kSlotCountMax) Grow();
    Slot& slot = SlotOf(call);
    if (slot.sink != nullptr) older_.emplace(slot.call, slot.sink);
    slot = {call, sink};
    ++size_;
  }
  // Null: the call is not there.
  AnswerSink* Find(uint64_t call) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[call & (slots_.size() - 1)];
    if (slot.call == call) return slot.sink;
    if (older_.empty()) return nullptr;
    const auto found = older_.find(call);
    return found == older_.end() ? nullptr : found->second;
  }
  // Removes the call and returns its sink; null: it is not there.
  AnswerSink* Remove(uint64_t call) {
    if (slots_.empty()) return nullptr;
    Slot& slot = SlotOf(call);
    AnswerSink* sink = nullptr;
    if (slot.call == call) {
      sink = std::exchange(slot, {}).sink;
    } else if (!older_.empty()) {
      const auto found = older_.find(call);
      if (found == older_.end()) return nullptr;
      sink = found->second;
      older_.erase(found);
    }
    if (sink != nullptr) --size_;
    return sink;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // The numbers of all calls, in their order.
  std::vector<uint64_t> Calls() const {
    std::vector<uint64_t> calls;
    for (const Slot& slot : slots_) {
      if (slot.sink != nullptr) calls.push_back(slot.call);
    }
    for (const auto& [call, sink] : older_) calls.push_back(call);
    std::sort(calls.begin(), calls.end());
    return calls;
  }

 private:
  // Beyond these, calls in flight at a time find older ones in their slots more often.
  static constexpr size_t kSlotCountMin = 16;
  static constexpr size_t kSlotCountMax = 4096;

  struct Slot {
    uint64_t call = 0;  // 0: free
    AnswerSink* sink = nullptr;
  };

  Slot& SlotOf(uint64_t call) { return slots_[call & (slots_.size() - 1)]; }
  void Grow() {
    std::vector<Slot> old(std::max(kSlotCountMin, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.sink != nullptr) SlotOf(slot.call) = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, or none
  absl::flat_hash_map<uint64_t, AnswerSink*> older_;
  size_t size_ = 0;
};

}  // namespace neptune
