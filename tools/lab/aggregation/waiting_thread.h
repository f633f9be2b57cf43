// The baseline of servers without events: the thread that ran a node's local operator keeps its
// slot of the pool, waits for the node's children, and does their reductions.
//
//   local operator ends ─► its thread waits ─► reduction ─► ... ─► the aggregation ends ─► leaves
//
// If a node has several own partitions, only the first of their threads waits.
//
// Source: [Chu03] 5.4 (multi-threaded aggregation).
// Departs from source: tasks are sent to children on arrival, not by the thread.
// Threads: see ReductionPlace.

#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "neptune/base/leaf_mutex.h"
#include "neptune/dac/reduction_place.h"
#include "neptune/thread/user_thread.h"

namespace search::lab {

class WaitingThread final : public neptune::ReductionPlace {
 public:
  void OnLocalServed() override;
  bool is_open() const override { return has_thread_; }
  void Run(neptune::Task reduction) override;
  void Close() override;

 private:
  std::optional<neptune::Task> Next();
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<bool> has_thread_{false};
  std::atomic<bool> closed_{false};
  neptune::LeafMutex mutex_;
  neptune::ThreadRef thread_ ABSL_GUARDED_BY(mutex_);
  std::optional<neptune::Task> reduction_ ABSL_GUARDED_BY(mutex_);
};

// For AggregatorOptions::reduction_place.
std::shared_ptr<neptune::ReductionPlace> MakeWaitingThread();

}  // namespace search::lab
