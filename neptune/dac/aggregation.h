// One aggregation on one node: runs the node's own local operators, asks its children in the tree, reduces what
// comes, and hands on one answer.
//
//   ServiceHost ◄── own partitions ── Aggregation ── subtree tasks ──► children, over kept connections
//       └─ local results ─────────────►  progress  ◄───────────── answers ─┘
//                                           └──► done: one answer, by the deadline
//
// The caller of an aggregation has one too: without partitions of its own, and with the tree's root (or, in
// the scheme `base`, with everybody) as child.
//
// A child that cannot be reached, or does not say soon that it has its task, is given up: its first child takes its place,
// and its partitions are asked on other replicas, kAttemptsMax times each. So a node that dies or hangs
// costs at most its own partitions, wherever in the tree it stands. A child that is merely late is left out.
//
// A child is in its server's dependency capsule from the time it is to be asked until it has answered: a place is held
// though no thread waits. One that the capsule turns away, or whose timeout passes, is treated as lost if that gains
// anything, else its partitions are missing, with the capsule as the reason.
//
// Source: [Chu03] 4.3 (event-driven aggregation), 4.4 (staged timeout).
// Departs from source: a lost child is replaced by its own first child.
// Threads: its loop's own, but for local operators and long reductions, which come back to it.
// Errors: as answers; see AggregationAnswer.
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
#include "neptune/service/retry_budget.h"
#include "neptune/service/service_host.h"
#include "neptune/wire/server_connection.h"

namespace neptune {

inline constexpr int kAttemptsMax = 3;

// What became of aggregations on one node.
struct AggregationCounters {
  Counter* pruned_children =
      nullptr;  // had not answered by the deadline, or nobody waited any more
  Counter* adopted_children = nullptr;  // children of a lost child
  Counter* lost_datagrams = nullptr;    // a child had not got its task by datagram
  Counter* silent_children = nullptr;   // did not accept their task in time
  Counter* moved_partitions = nullptr;  // asked on another replica
  Counter* order_errors = nullptr;      // operators found not to be commutative

  static StatusOr<AggregationCounters> Make(MetricsRegistry& metrics);
};

class Aggregation final : public ReplyTaker, public std::enable_shared_from_this<Aggregation> {
 public:
  // What the node's aggregations share. It outlives them.
  struct Environment {
    NodeId node;
    int processor_count = 1;
    NodeLoops& loops;
    Client& client;
    CostMeter& costs;
    LoadGossip& gossip;
    AggregationCounters counters;
    // Every so many reductions are done in the other order too, and must give the same bytes. 0: none.
    uint32_t recheck_one_in = 0;
    std::atomic<uint32_t> reduction_count{0};
    // A child that has not accepted its task for this long is given up. Larger: a busy node is left alone longer, a
    // hung one costs more time. Default: 50 ms, ten times what a server waits before it says so.
    Duration accept_timeout = std::chrono::milliseconds(50);
    // Children are given up, and asked anew when a capsule's timeout passes, within this budget only, so that a busy
    // cluster is not loaded more: one in ten of the aggregations begun, and ten at once.
    RetryBudget give_up_budget{0.1, 10};
    // The same for children that were lost after they had been asked. More at once: what a node that dies leaves behind.
    RetryBudget loss_budget{0.1, 50};
  };
  struct Options {
    AggregationPlan plan;
    RegisteredReduce reduce;
    ServiceName service;
    std::string service_class;
    TraceContext trace;
    bool retried = false;                 // see RequestHeader
    std::chrono::microseconds waited{0};  // the same
    TimePoint received;
    TimePoint deadline;
    // Of the request that the call is made for, on a caller; null: of none.
    std::shared_ptr<RequestHoldings> holdings;
    // Runs local operators and long reductions; null on a caller.
    ServiceHost* host = nullptr;
    std::vector<PartitionId> own;
    // Subtrees, each in preorder, and when each must have answered.
    struct Child {
      std::vector<TreeMember> members;
      TimePoint deadline;
    };
    std::vector<Child> children;
  };
  struct End {
    Status status;  // kCancelled if it was; then nothing else is set
    AggregationAnswer answer;
    Duration reducing{0};        // here, once all local results were there
    std::optional<Data> result;  // of the answer, not yet as bytes
  };
  // On the loop, once, unless the aggregation is destroyed first.
  using OnEnd = absl::AnyInvocable<void(End)>;

  // REQUIRES: made and used on one loop of the node.
  Aggregation(Environment& environment, Options options, OnEnd on_end);
  ~Aggregation() override;

  void Start();
  // Nobody waits any more: everything below is told to stop, and nothing is answered.
  void Cancel();

 private:
  class Child;
  class LocalCall;

  void HandleReply(uint64_t own_index, const ResponseHeader& header, std::string payload) override;

  void StartLocals();
  void AddChild(Options::Child child, int attempt, std::optional<ReplicaChoice> choice);
  // Asks it, once it has its place and there is a connection.
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

  // Goes on as far as it can: reduces, and ends.
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
  const CostMeter::Means means_;  // when it came
  PendingWork pending_work_;
  std::vector<PartitionId> expected_;
  AggregationProgress progress_;
  std::vector<bool> own_settled_;
  std::shared_ptr<LocalCall> local_call_;
  std::vector<std::unique_ptr<Child>> children_;
  std::vector<MemberRecord> records_;  // of those below
  std::vector<PartitionId> ended_early_;
  MemberRecord record_;    // its own
  std::set<NodeId> lost_;  // nodes that are not asked again
  Status why_missing_ = Internal("a server of the tree did not account for it");
  TimerId timer_ = 0;  // of the deadline
  TimerId accept_timer_ = 0;
  bool ended_ = false;
};

}  // namespace neptune
