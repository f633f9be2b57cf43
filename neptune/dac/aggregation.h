// One aggregation on one node: runs the node's own local operators, sends tasks to its children in
// the tree, reduces the results, and returns one answer.
//
//   ServiceHost ◄── own partitions ── Aggregation ── subtree tasks ──► children (kept connections)
//       └─ local results ─────────────►  progress  ◄───────────── answers ─┘
//                                           └──► done: one answer, by the deadline
//
// The caller of an aggregation has an Aggregation too: without partitions of its own, and with the
// tree's root (in the scheme `base`: every server) as child.
//
// A child that cannot be reached, or does not accept its task in time, is replaced: its first child
// takes its place, and its partitions are moved to other replicas, up to kAttemptsMax times each. A
// node that dies or hangs therefore costs at most its own partitions, at any position in the tree.
// A child that is merely late is pruned.
//
// A child holds a place in its server's dependency capsule from before its task is sent until it
// has answered, although no thread waits. If the capsule refuses the child, or its timeout expires,
// the child is treated as lost if it can be replaced; otherwise its partitions are missing, with
// the capsule as the reason.
//
// Source: [Chu03] 4.3 (event-driven aggregation), 4.4 (staged timeout).
// Departs from source: a lost child is replaced by its own first child.
// Threads: runs on its loop, except for local operators and long reductions, whose results return
//   to it.
// Errors: reported in answers; see AggregationAnswer.
// Limits: one reduction at a time.

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/base/metrics.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/dac/aggregation_progress.h"
#include "neptune/dac/cost_meter.h"
#include "neptune/dac/load_gossip.h"
#include "neptune/service/client.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/operator_registry.h"
#include "neptune/service/retry_budget.h"
#include "neptune/service/service_host.h"
#include "neptune/wire/server_connection.h"

namespace neptune {

inline constexpr int kAttemptsMax = 3;

// Counters of the aggregations on one node.
struct AggregationCounters {
  Counter* pruned_children = nullptr;   // no answer by the deadline, or cancelled
  Counter* adopted_children = nullptr;  // children of a lost child
  Counter* lost_datagrams = nullptr;    // children that did not receive their datagram
  Counter* silent_children = nullptr;   // children that did not accept their task in time
  Counter* moved_partitions = nullptr;  // partitions moved to another replica
  Counter* order_errors = nullptr;      // operators found not to be commutative

  static StatusOr<AggregationCounters> Make(MetricsRegistry& metrics);
};

class Aggregation final : public ReplyTaker, public std::enable_shared_from_this<Aggregation> {
 public:
  // State shared by the node's aggregations; outlives them.
  struct Environment {
    NodeId node;
    int processor_count = 1;
    NodeLoops& loops;
    Client& client;
    CostMeter& costs;
    LoadGossip& gossip;
    AggregationCounters counters;
    // One in this many reductions is repeated in the other order and must give the same bytes. 0:
    // none.
    uint32_t recheck_one_in = 0;
    std::atomic<uint32_t> reduction_count{0};
    // A child that has not accepted its task after this time is replaced. Larger: tolerates busy
    // nodes longer, but a hung node costs more time. Default: 50 ms, ten times the delay after
    // which a server accepts.
    Duration accept_timeout = std::chrono::milliseconds(50);
    // Budget for replacing silent children and children whose capsule timed out, so that a busy
    // cluster is not loaded further: one in ten aggregations, and ten at once.
    RetryBudget give_up_budget{0.1, 10};
    // Retry budget for children lost after being asked. The burst covers everything one dead node
    // leaves behind.
    RetryBudget loss_budget{0.1, 50};
  };
  struct Options {
    AggregationPlan plan;
    RegisteredReduce reduce;
    ServiceName service;
    std::string service_class;
    TraceContext trace;
    bool retried = false;                 // as in RequestHeader
    std::chrono::microseconds waited{0};  // as in RequestHeader
    TimePoint received;
    TimePoint deadline;
    // On a caller: resources held by the request on whose behalf the call is made; null: none.
    std::shared_ptr<RequestHoldings> holdings;
    // Runs local operators and long reductions; null on a caller.
    ServiceHost* host = nullptr;
    std::vector<PartitionId> own;
    // Subtrees, each in preorder, with the deadline of its answer.
    struct Child {
      std::vector<TreeMember> members;
      TimePoint deadline;
    };
    std::vector<Child> children;
  };
  struct End {
    Status status;  // kCancelled: nothing else is set
    AggregationAnswer answer;
    Duration reducing{0};        // time in reductions here, after all local results were available
    std::optional<Data> result;  // result of the answer, not yet serialised
  };
  // Called once, on the loop, unless the aggregation is destroyed first.
  using OnEnd = absl::AnyInvocable<void(End)>;

  // REQUIRES: created and used on one loop of the node.
  Aggregation(Environment& environment, Options options, OnEnd on_end);
  ~Aggregation() override;

  void Start();
  // Cancels the aggregation and all work below it; no answer is sent.
  void Cancel();

 private:
  class Child;
  class LocalCall;

  void HandleReply(uint64_t own_index, const ResponseHeader& header, std::string payload) override;

  void StartLocals();
  void AddChild(Options::Child child, int attempt, std::optional<ReplicaChoice> choice);
  // Sends the task to the child, after it has its capsule place and a connection.
  void AdmitChild(Child& child);
  void ConnectChild(Child& child);
  void TurnAwayChild(Child& child, const Status& reason);
  void EndVisit(Child& child);
  void HandleChildAnswer(Child& child, StatusOr<Frame> frame,
                         const std::shared_ptr<ClientConnection>& connection);
  void SettleChild(Child& child, AggregationAnswer answer);
  void LoseChild(Child& child, const Status& reason);
  void AskElsewhere(Child& child, const Status& reason);
  void GiveUpSilentChildren();
  void WatchChildren(TimePoint when);
  bool CanBeReplaced(const Child& child) const;
  void MissChild(Child& child, const Status& reason);
  void Miss(const std::vector<PartitionId>& partitions, const Status& reason);
  void MovePartitions(const Child& child, const Status& reason);
  std::optional<ReplicaChoice> ChooseReplica(const Child& child, PartitionId partition,
                                             const std::vector<Replica>& replicas);
  void Replace(const Child& child, std::vector<TreeMember> leaves,
               std::optional<ReplicaChoice> choice);
  void MissSubtree(const Child& child, const Status& reason);

  // Makes all progress that is possible now: starts a reduction, or ends.
  void Advance();
  bool Reduce(AggregationProgress::Reduction inputs);
  bool HasOwnOutstanding() const;
  struct Reduced {
    StatusOr<Data> combined;
    Duration took{0};
  };
  Reduced RunReduce(const Data& first, const Data& second);
  StatusOr<Data> MeterReduce(const Data& first, const Data& second);
  StatusOr<Data> CallReduce(const Data& first, const Data& second) const;
  Status CheckOrder(const Data& first, const Data& second, const Data& combined);
  void HandleReduced(Reduced reduced);
  void EndReduction(Reduced reduced);

  void Expire(const Status& reason, bool failed);
  void CancelTimers();
  void CloseBelow(bool failed);
  void Finish();
  void Account(AggregationAnswer* answer) const;
  MemberRecord OwnRecord();
  TimePoint Now() const { return loop_.loop->Now(); }

  Environment& environment_;
  const Options options_;
  OnEnd on_end_;
  NodeLoop& loop_;
  const Data reduce_parameters_;
  const CostMeter::Means means_;  // at the arrival of the task
  PendingWork pending_work_;
  std::vector<PartitionId> expected_;
  AggregationProgress progress_;
  std::vector<bool> own_settled_;
  std::shared_ptr<LocalCall> local_call_;
  std::vector<std::unique_ptr<Child>> children_;
  std::vector<MemberRecord> records_;  // of the servers below
  std::vector<PartitionId> ended_early_;
  MemberRecord record_;    // of this node
  std::set<NodeId> lost_;  // nodes that are not tried again
  Status why_missing_ = Internal("a server of the tree did not account for it");
  TimerId timer_ = 0;  // deadline timer
  TimerId accept_timer_ = 0;
  bool ended_ = false;
};

}  // namespace neptune
