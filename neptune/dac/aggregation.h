// One aggregation on one node: runs the node's own local operators, sends tasks to its children in
// the tree, reduces the results, and returns one answer.
//
//   ServiceHost ◄── LocalOperators ─► Reductions ◄── AggregationChildren ──► kept connections
//                                         └──► done: one answer, by the deadline
//
// The caller of an aggregation has an Aggregation too: without partitions of its own, and with the
// tree's root (in the scheme `base`: every server) as child.
//
// Source: [Chu03] 4.3 (event-driven aggregation), 4.4 (staged timeout).
// Threads: runs on its loop, except for local operators and long reductions, whose results return
//   to it.
// Errors: reported in answers; see AggregationAnswer.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/dac/aggregation_children.h"
#include "neptune/dac/aggregation_environment.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/dac/local_operators.h"
#include "neptune/dac/node_task.h"
#include "neptune/dac/reductions.h"

namespace neptune {

class Aggregation final : public std::enable_shared_from_this<Aggregation> {
 public:
  struct End {
    Status status;  // kCancelled: nothing else is set
    AggregationAnswer answer;
    Duration reducing{0};        // time in reductions here, after all local results were available
    std::optional<Data> result;  // result of the answer, not yet serialised
  };
  // Called once, on the loop, unless the aggregation is destroyed first.
  using OnEnd = absl::AnyInvocable<void(End)>;

  // `environment` outlives the aggregation. REQUIRES: created and used on one loop of the node.
  Aggregation(AggregationEnvironment& environment, NodeTask task, OnEnd on_end);
  ~Aggregation();

  void Start();
  // Cancels the aggregation and all work below it; no answer is sent.
  void Cancel();

 private:
  void HandleTurn(Reductions::Turn turn);
  // Stops waiting for everything except the reduction in progress.
  void Expire(const Status& reason, bool failed);
  // Ends the work below, whose results are not needed.
  void CloseBelow(bool failed);
  void EndAll();
  void Finish();
  AggregationAnswer ReleaseAnswer(AggregationProgress::Outcome* outcome);
  MemberRecord OwnRecord();

  AggregationEnvironment& environment_;
  const NodeTask task_;
  OnEnd on_end_;
  NodeLoop& loop_;
  TaskWork work_;
  Reductions results_;
  LocalOperators locals_;
  AggregationChildren children_;
  // Why partitions that no server accounts for are missing.
  Status why_missing_ = Internal("a server of the tree did not account for it");
  TimerId deadline_timer_ = 0;
};

}  // namespace neptune
