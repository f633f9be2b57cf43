// One request whose method runs for several partitions of its node, one after the other.
//
//   LocalOperators ─► ServiceHost::Dispatch ─► one place in the queue, one thread of the pool
//        ▲                                          │ the method, once for each partition
//        └─ Reply: all have run ◄── PartitionBatch ◄┘ outcomes; results are not serialised
//
// Compared with a request for each partition it saves the queue, the changes of thread and the
// serialising of all but one, which short methods notice. The request is parsed once, because the
// method gets the same Data each time. Class, deadline, time limit and cancellation are those of
// the one request.
//
// Source: [Chu03] 4.3 (local operators of one server).
// Threads: Finish on the thread that serves the request, or before it is queued; the rest on the
//   caller's thread, at any time.
// Limits: none; the caller bounds the partitions.

#pragma once

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/service/data.h"

namespace neptune {

class PartitionBatch {
 public:
  // What the method did for one partition.
  struct Outcome {
    Status status;
    Data result;
    bool ended_early = false;  // as in ResponseHeader
  };

  explicit PartitionBatch(std::vector<PartitionId> partitions)
      : partitions_(std::move(partitions)), slots_(partitions_.size()) {}

  size_t size() const { return partitions_.size(); }
  PartitionId partition(size_t index) const { return partitions_[index]; }

  // At most once for each partition. For those without it, the reply says why.
  void Finish(size_t index, Outcome outcome) {
    slots_[index].outcome = std::move(outcome);
    slots_[index].is_finished.store(true, std::memory_order_release);
  }
  // May be true before the request has ended.
  bool is_finished(size_t index) const {
    return slots_[index].is_finished.load(std::memory_order_acquire);
  }
  // REQUIRES: is_finished(index); called once.
  Outcome Take(size_t index) { return std::move(slots_[index].outcome); }

 private:
  struct Slot {
    Outcome outcome;
    std::atomic<bool> is_finished{false};
  };

  const std::vector<PartitionId> partitions_;
  std::vector<Slot> slots_;
};

}  // namespace neptune
