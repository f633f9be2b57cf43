// The results of one aggregation on one node, and the reductions that make one of them.
//
//   local operators ──┐                                        ┌─► kDone: one result, or none
//   children ─────────┴─► AggregationProgress ─► Advance ──────┤
//                               ▲                   │          └─► kHopeless: the call misses too
//                               └── one reduction ◄─┘                  many partitions
//
// A short reduction runs on the loop, a long one on the service's pool, or at a caller on a
// user-level thread. A node with a ReductionPlace uses that for its own partitions' aggregations.
//
// Source: [Chu03] 4.3.
// Threads: the loop of the aggregation; the operator itself on any thread.
// Errors: an error of the operator ends the aggregation with it.
// Limits: one reduction at a time.

#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "neptune/dac/aggregation_environment.h"
#include "neptune/dac/aggregation_progress.h"
#include "neptune/dac/node_task.h"
#include "neptune/dac/reducer.h"
#include "neptune/dac/reduction_place.h"
#include "neptune/service/node_loops.h"

namespace neptune {

class Reductions {
 public:
  enum class Turn {
    kDone,      // the outcome can be released
    kHopeless,  // more partitions are missing than the whole call may miss
  };
  // Called on the loop by Advance; may call Advance again.
  using OnTurn = absl::AnyInvocable<void(Turn)>;

  // The references outlive this object.
  Reductions(AggregationEnvironment& environment, const NodeTask& task, NodeLoop& loop,
             TaskWork& work, OnTurn on_turn);

  // Must be called before the first Advance. `owner` contains this object; its reductions in
  // progress hold weak references to it.
  void Begin(const std::shared_ptr<void>& owner);
  AggregationProgress& progress() { return progress_; }
  // Makes all progress that is possible now: starts a reduction, or reports a turn.
  void Advance();
  // Every local operator has ended: reductions from now on delay the answer.
  void OnLocalsEnded() { locals_ended_ = true; }
  // Ends everything; reductions in progress are dropped.
  void Close() { closed_ = true; }
  bool closed() const { return closed_; }

  // The place of reductions if the node has own partitions; null: the usual places.
  const std::shared_ptr<ReductionPlace>& place() const { return place_; }
  // Time in reductions after all local operators had ended.
  Duration time_after_locals() const { return time_after_locals_; }

 private:
  // Returns true if the reduction has ended at once; otherwise HandleReduced follows.
  bool Start(AggregationProgress::Reduction inputs);
  bool RunsAtPlace() const;
  void HandleReduced(Reducer::Reduced reduced);
  void End(Reducer::Reduced reduced);

  const NodeTask& task_;
  NodeLoop& loop_;
  TaskWork& work_;
  OnTurn on_turn_;
  AggregationProgress progress_;
  Reducer reducer_;
  const std::shared_ptr<ReductionPlace> place_;
  std::weak_ptr<Reductions> self_;
  Duration time_after_locals_{0};
  bool locals_ended_;
  bool closed_ = false;
};

}  // namespace neptune
