// What one caller believes of the servers' loads, so that it can form a tree without asking everybody.
//
//   pending work of a node = u + exp(-age / T) (what it last reported - u)
//                            + fellow_weight * sum over what this caller assigned to it since: work * exp(-its age / T)
//                            ± a random correction that grows with the report's age
//   and never less than the work that this caller gave it and that has not ended
//
// with u what the node usually reports, and T the time in which a queue forgets its length, in proportion to what the
// service's local operator costs: so an old report says little, and one that is very old nothing.
//
// Two things keep callers from flocking to a server that was light a while ago. What a caller assigns weighs more than
// it is, since other callers saw the same and chose alike. And there is a correction, drawn anew each time, uniformly,
// with the deviation
//
//   correction_share * mean * sqrt(1 - exp(-2 age / T)),   mean = the nodes' mean reported work
//
// It is small: noise beyond a few reductions gathers a tree's reductions on servers drawn at random, which is worse than
// a binomial tree. The doubt that remains, 1 - exp(-age / T), is for the caller of Doubt to spread reductions by.
//
// A server that never answers is believed to hold all that it was given, whatever it announces; so it grows heavy and
// becomes a leaf. Its answer ends that, and so does time.
//
// Costs of operators belong to a service on a node. A node's own count the more the more often they were heard anew:
// k of k + kCostPriorReports parts, and the rest the service's mean over the nodes that are known. For who has by chance
// measured a few quick reductions would else be given all of them. Without any, they are the default.
//
// Source: [Chu03] 4.5 (1), (2).
// Departs from source: the paper leaves the correction's distribution open; the return of old reports to what is usual,
//   the caller's own assignments, and the floor under servers that do not answer, are ours.
// No I/O, no clock, no threads; the aggregating client feeds it.
// Threads: thread-compatible; one a calling loop.
// Units: work is time on the node in question.
// Limits: kBookedNodeCountMax nodes, the one not heard of or used for longest leaves; costs of kBookedServiceCountMax
//   services, further ones are taken as unknown; times of kBookedAssignmentCountMax assignments a node, the oldest are
//   taken together. Keyed calls are O(1).

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "neptune/base/ewma.h"
#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/world/random_source.h"

namespace neptune {

inline constexpr size_t kBookedNodeCountMax = 8192;
inline constexpr size_t kBookedServiceCountMax = 64;
inline constexpr size_t kBookedAssignmentCountMax = 64;
inline constexpr uint32_t kCostPriorReports = 8;

// What a node says of itself for one service. Negative values count as 0, values over an hour as an hour.
struct ServerLoad {
  Duration pending{0};      // all queued and active work of the node, reductions among it
  Duration local_cost{0};   // mean of the service's local operator on one partition; 0: not known
  Duration reduce_cost{0};  // mean of one reduction; 0: not known
};

enum class LoadSource {
  kAnnouncement,  // multicast by the node
  kPoll,          // its answer to a poll
  kAnswer,        // came with the result of a call
  kGossip,        // another node had heard it
};

struct OperatorCosts {
  Duration local_cost{0};
  Duration reduce_cost{0};
};

struct LoadEstimatorOptions {
  // Whether estimates are corrected for their age, and at random. False: the sum of what was reported and assigned, as it
  // is. Default: true.
  bool corrects = true;
  // Whether the pending work that comes with answers counts. False: only what nodes announce or are polled for does, as
  // in the paper. Default: true.
  bool heeds_answers = true;
  // Deviation of the correction of an old report, in mean reported work. Larger: callers spread more and follow reports
  // less. Default: 0.1, a tenth of how an exponential queue's length deviates; from 0.3 on trees get worse.
  double correction_share = 0.1;
  // Time in which a queue forgets its length, in mean costs of the service's local operator. Smaller: reports are trusted
  // for less time. Default: 12, the best measured (lab, dac_trees); between 8 and 40 it differs little.
  double relaxation_services = 12;
  // How much counts what this caller assigned since a node's report. Larger: callers take turns better while reports are
  // old, and use what they know less while there is one caller. Default: 4, good for 1 to 24 callers.
  double fellow_weight = 4;
  // In which half of the work is forgotten that a server was given and has not ended. Larger: a server that hung stays
  // a leaf for longer. Default: 10 s, twice as long as membership takes to drop a dead node.
  Duration unanswered_half_life = std::chrono::seconds(10);
  // A node whose report is younger is not polled. Default: 5 ms, a poll's own way on a busy network.
  Duration poll_age_min = std::chrono::milliseconds(5);
  // Until the first report of a service. They decide as long as nothing else does; only their ratio to pending work
  // matters. A reduction that is thought cheaper than it is gathers them on the few servers that were light a while ago.
  // Default: 5 ms each.
  OperatorCosts default_costs = {std::chrono::milliseconds(5), std::chrono::milliseconds(5)};
};

class LoadEstimator {
 public:
  explicit LoadEstimator(const LoadEstimatorOptions& options = {});

  // A node's load as it was at `taken_at`; replaces what was believed then, and what was assigned by then. One that is
  // older than the newest is dropped. Only an answer proves that the node works, and ends the floor under what it was
  // given.
  void OnReport(const NodeId& node, const ServiceName& service, const ServerLoad& load,
                TimePoint taken_at, LoadSource source);
  // This caller gave the node work: its local operators and reductions of one aggregation.
  void OnAssigned(const NodeId& node, Duration work, TimePoint now);
  // Work assigned earlier was done, or was never begun, and no answer's report said so. Not for a node that did not
  // answer: what it was given stays, and fades.
  void OnSettled(const NodeId& node, Duration work, TimePoint now);
  // The node left the cluster.
  void Forget(const NodeId& node);

  // Pending work, at least 0. A node never heard of is believed to have the mean, fully corrected.
  Duration Estimate(const NodeId& node, const ServiceName& service, TimePoint now,
                    RandomSource& random) const;
  // How little the estimate has to do with the node's last report: 0 for one of now, towards 1 for older ones.
  double Staleness(const NodeId& node, const ServiceName& service, TimePoint now) const;
  OperatorCosts Costs(const NodeId& node, const ServiceName& service) const;

  // Which of `nodes` to poll, at most `count`, as indices: drawn at random in pairs, of each pair the one with the older
  // report, unless that is too young to bother.
  std::vector<size_t> ChoosePollTargets(std::span<const NodeId> nodes, size_t count, TimePoint now,
                                        RandomSource& random) const;

  size_t node_count() const { return slots_.size(); }
  // Mean reported work, of each node at most four times the mean before it: one hung server is no measure of the rest.
  Duration mean_pending() const;

 private:
  using Slot = uint32_t;
  static constexpr Slot kNoSlot = UINT32_MAX;

  struct Assignment {
    TimePoint at;
    Duration work{0};
  };
  struct Entry {
    NodeId node;
    bool is_reported = false;
    TimePoint reported_at{};
    Duration pending{0};   // as reported
    double usual = 0;      // mean of the reports, in work
    uint32_t reports = 0;  // in that mean
    Duration assigned{0};  // since then: the sum of the next
    std::deque<Assignment> assignments;
    DecayedCounter unanswered;
    Duration share_of_sum{0};  // what it adds to pending_sum_
    Slot newer = kNoSlot;      // in the order of use
    Slot older = kNoSlot;
  };
  struct NodeCost {
    Duration cost{0};      // as last heard; 0: not known
    uint32_t reports = 0;  // that told another one
  };
  struct NodeCosts {
    NodeCost local;
    NodeCost reduce;
  };
  // Of one operator on all nodes.
  struct CostSum {
    Duration sum{0};
    int64_t count = 0;

    void Replace(NodeCost* kept, Duration cost);
    void Forget(NodeCost* kept);
    Duration Of(const NodeCost& node, Duration otherwise) const;
    Duration MeanOr(Duration otherwise) const { return count == 0 ? otherwise : sum / count; }
  };
  struct ServiceCosts {
    std::vector<NodeCosts> of_slot;  // slots beyond the end are not known
    CostSum local_sum;
    CostSum reduce_sum;
  };

  Entry& Use(const NodeId& node);
  const Entry* Find(const NodeId& node) const;
  void Link(Slot slot);
  void Unlink(Slot slot);
  void Empty(Slot slot);
  void BookPending(Entry& entry, Duration pending);
  static void ForgetAssignments(Entry& entry, TimePoint until);
  void BookCosts(Slot slot, const ServiceName& service, const ServerLoad& load);
  double RelaxationTime(const ServiceName& service) const;
  double Correction(double forgotten, RandomSource& random) const;

  const LoadEstimatorOptions options_;
  std::vector<Entry> entries_;  // by slot
  std::vector<Slot> free_slots_;
  absl::flat_hash_map<NodeId, Slot> slots_;
  Slot newest_ = kNoSlot;  // used last
  Slot oldest_ = kNoSlot;
  absl::flat_hash_map<ServiceName, ServiceCosts> services_;
  Duration pending_sum_{0};
  int64_t reported_count_ = 0;
};

}  // namespace neptune
