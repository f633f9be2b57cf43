// The children of one aggregation, and what happens to a child that is lost.
//
// A child that cannot be reached, or does not accept its task in time, is replaced: its first child
// takes its place, and its partitions are moved to other replicas, up to kAttemptsMax times each. A
// node that dies or hangs therefore costs at most its own partitions, at any position in the tree.
// A child that is merely late is pruned.
//
// If the capsule of a child's server refuses the child, or its timeout expires, the child is
// treated as lost if it can be replaced; otherwise its partitions are missing, with the capsule as
// the reason.
//
// Source: [Chu03] 4.3.
// Departs from source: a lost child is replaced by its own first child.
// Threads: the aggregation's loop.
// Errors: a partition that cannot be had is missing, with the reason.
// Limits: kAttemptsMax attempts for each partition; repeated work is charged to the budgets of
//   AggregationEnvironment.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "neptune/dac/aggregation_environment.h"
#include "neptune/dac/child_call.h"
#include "neptune/dac/node_task.h"
#include "neptune/dac/other_replicas.h"
#include "neptune/dac/reductions.h"

namespace neptune {

inline constexpr int kAttemptsMax = 3;

class AggregationChildren {
 public:
  // The references outlive this object.
  AggregationChildren(AggregationEnvironment& environment, const NodeTask& task, NodeLoop& loop,
                      Reductions& results);
  ~AggregationChildren();
  AggregationChildren(const AggregationChildren&) = delete;
  AggregationChildren& operator=(const AggregationChildren&) = delete;

  // Sends the tasks. `owner` contains this object. REQUIRES: the progress expects one source for
  // each child.
  void Start(const std::shared_ptr<void>& owner);
  // Prunes the unsettled children and cancels their work. `failed`: because they are late.
  void Close(bool failed);

  // Records of the servers below, and the partitions that a time limit ended there.
  std::vector<MemberRecord> ReleaseRecords() { return std::move(records_); }
  std::vector<PartitionId> ReleaseEndedEarly() { return std::move(ended_early_); }

  // Events of a child. After those that may settle it, the caller must call Advance.
  void OnBegun(const ChildCall& child);
  void OnRefused(ChildCall& child, const Status& reason);
  void OnLost(ChildCall& child, const Status& reason);
  // Advance is called by these two.
  void OnPlaceTimeout(ChildCall& child, const Status& reason);
  void OnAnswer(ChildCall& child, StatusOr<CallAnswer> answer,
                const std::shared_ptr<CallChannel>& channel);
  void Advance() { results_.Advance(); }

  bool closed() const { return results_.closed(); }
  // Keeps the aggregation alive during an event.
  std::shared_ptr<AggregationChildren> Hold() const { return self_.lock(); }
  const std::weak_ptr<AggregationChildren>& weak() const { return self_; }
  // The node refuses connections; it is left out until it announces itself again.
  void Exclude(const NodeId& node) { environment_.client.Exclude(node); }

 private:
  void Add(Subtree subtree, ChildCall::Attempt attempt);
  bool Resend(ChildCall& child, const std::shared_ptr<CallChannel>& channel, Status* status);
  void Settle(ChildCall& child, AggregationAnswer answer);
  void MissSubtree(ChildCall& child, const Status& reason);
  void MissMembers(const ChildCall& child, const Status& reason);
  void Miss(const std::vector<PartitionId>& partitions, const Status& reason);

  bool CanBeReplaced(const ChildCall& child) const;
  void AskElsewhere(ChildCall& child, const Status& reason);
  void MovePartitions(const ChildCall& child, const Status& reason);
  std::optional<ReplicaChoice> ChooseReplica(const ChildCall& child, PartitionId partition,
                                             const std::vector<Replica>& replicas);
  void Replace(const ChildCall& child, const std::vector<TreeMember>& leaves,
               std::optional<ReplicaChoice> choice);

  void WatchUntil(TimePoint when);
  void GiveUpSilent();
  bool IsWatched(const ChildCall& child) const;

  AggregationEnvironment& environment_;
  const NodeTask& task_;
  NodeLoop& loop_;
  Reductions& results_;
  OtherReplicas others_;
  std::weak_ptr<AggregationChildren> self_;
  TimerId watch_timer_ = 0;
  std::vector<MemberRecord> records_;
  std::vector<PartitionId> ended_early_;
  std::vector<std::unique_ptr<ChildCall>> children_;
};

}  // namespace neptune
