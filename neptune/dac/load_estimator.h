// Estimates the servers' loads from one caller's knowledge, so that a tree can be formed without
// polling every server.
//
//   pending work of a node = u + exp(-age / T) (last report - u)
//                            + fellow_weight * sum over assignments since: work * exp(-its age / T)
//                            ± a random correction that grows with the report's age
//   but never less than the work that this caller assigned to it and that has not ended
//
// Here u is the node's usual report, and T is the time in which a queue forgets its length,
// proportional to the cost of the service's local operator. An old report therefore has little
// weight, a very old one none.
//
// Two measures keep callers from herding to a server that was light some time ago. First, a
// caller's assignments count for more than their work, because other callers saw the same loads and
// chose alike. Second, each estimate has a new random correction, uniformly distributed with the
// deviation
//
//   correction_share * mean * sqrt(1 - exp(-2 age / T)),   mean = the nodes' mean reported work
//
// The correction is small: noise larger than a few reductions would concentrate a tree's reductions
// on random servers, which is worse than a binomial tree. The caller spreads reductions according
// to the remaining uncertainty, Staleness = 1 - exp(-age / T).
//
// A server that never answers is assumed to hold all work assigned to it, whatever it announces; it
// becomes heavy and thus a leaf. An answer ends that, and so does time.
//
// Costs of operators are kept by service and node. After k different reports, a node's own cost has
// the weight k / (k + kCostPriorReports), and the service's mean over the known nodes has the rest;
// otherwise a node that happened to measure a few quick reductions would be assigned all of them.
// The default costs are used until the first report.
//
// Source: [Chu03] 4.5 (1), (2).
// Departs from source: the paper leaves the distribution of the correction open. It has neither the
//   return of old reports to the usual value, nor the caller's own assignments, nor the floor under
//   servers that do not answer.
// No I/O, no clock, no threads; KnownLoads and LoadPolls report to it.
// Threads: thread-compatible; one per calling loop.
// Units: work is time on the node in question.
// Limits: kBookedNodeCountMax nodes, the least recently used one is evicted; costs of
//   kBookedServiceCountMax services, further ones count as unknown; times of
//   kBookedAssignmentCountMax assignments per node, the oldest are merged. Calls by key are O(1).

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

// A node's report for one service. Negative values count as 0, values over an hour as an hour.
struct ServerLoad {
  Duration pending{0};      // all queued and active work of the node, including reductions
  Duration local_cost{0};   // mean of the service's local operator on one partition; 0: not known
  Duration reduce_cost{0};  // mean of one reduction; 0: not known
};

enum class LoadSource {
  kAnnouncement,  // the node's announcement
  kPoll,          // the node's answer to a poll
  kAnswer,        // received with the result of a call
  kGossip,        // passed on by another node
};

struct OperatorCosts {
  Duration local_cost{0};
  Duration reduce_cost{0};
};

struct LoadEstimatorOptions {
  // Deviation of the correction of an old report, as a multiple of the mean reported work. Larger:
  // callers spread more and follow reports less. Default: 0.1, a tenth of the deviation of an
  // exponential queue's length; from 0.3 on trees get worse.
  double correction_share = 0.1;
  // Time in which a queue forgets its length, in mean costs of the service's local operator.
  // Smaller: reports are trusted for less time. Default: 12, the best measured (lab, dac_trees); 8
  // to 40 differ little.
  double relaxation_services = 12;
  // Weight of work that this caller assigned since a node's report. Larger: several callers spread
  // better over old reports, but a single caller uses its knowledge less. Default: 4, good for 1 to
  // 24 callers.
  double fellow_weight = 4;
  // Half-life of work that was assigned to a server and has not ended. Larger: a server that hung
  // stays a leaf for longer. Default: 10 s, twice the time in which membership drops a dead node.
  Duration unanswered_half_life = std::chrono::seconds(10);
  // A node whose report is younger is not polled. Default: 5 ms, the delay of a poll on a busy
  // network.
  Duration poll_age_min = std::chrono::milliseconds(5);
  // Costs used until the first report of a service; only their ratio to the pending work matters.
  // If a reduction is underestimated, reductions concentrate on the few servers that were light
  // some time ago.
  // Default: 5 ms each.
  OperatorCosts default_costs = {std::chrono::milliseconds(5), std::chrono::milliseconds(5)};
};

// Virtual for estimators that know less or more than the reports say, which experiments compare
// with this one.
class LoadEstimator {
 public:
  explicit LoadEstimator(const LoadEstimatorOptions& options = {});
  virtual ~LoadEstimator() = default;

  // Reports a node's load as of `taken_at`; replaces earlier reports, and assignments made by then.
  // A report older than the newest one is dropped. Only an answer proves that the node works, and
  // ends the floor under its assigned work.
  void OnReport(const NodeId& node, const ServiceName& service, const ServerLoad& load,
                TimePoint taken_at, LoadSource source);
  // This caller assigned work to the node: its local operators and reductions of one aggregation.
  void OnAssigned(const NodeId& node, Duration work, TimePoint now);
  // Work assigned earlier was done or never begun, but no answer reported it. Not to be called for
  // a node that did not answer: its assigned work stays, and decays.
  void OnSettled(const NodeId& node, Duration work, TimePoint now);
  // The node left the cluster.
  void Forget(const NodeId& node);

  // Returns the estimated pending work, at least 0. An unknown node is assumed to have the mean,
  // fully corrected.
  virtual Duration Estimate(const NodeId& node, const ServiceName& service, TimePoint now,
                            RandomSource& random) const;
  // Returns the uncertainty of the estimate: 0 for a report of now, approaching 1 for old reports.
  virtual double Staleness(const NodeId& node, const ServiceName& service, TimePoint now) const;
  OperatorCosts Costs(const NodeId& node, const ServiceName& service) const;

  // Chooses at most `count` of `nodes` to poll, as indices: draws random pairs, and of each pair
  // takes the node with the older report, unless that is younger than poll_age_min.
  std::vector<size_t> ChoosePollTargets(std::span<const NodeId> nodes, size_t count, TimePoint now,
                                        RandomSource& random) const;

  size_t node_count() const { return slots_.size(); }
  // Mean reported work. Each node's report is clamped to four times the previous mean, so that one
  // hung server does not dominate.
  Duration mean_pending() const;

 protected:
  // True if the pending work in reports of this source counts. Costs of operators always do.
  virtual bool CountsPending(LoadSource) const { return true; }

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
    uint32_t reports = 0;  // number of reports in that mean
    Duration assigned{0};  // work assigned since then: the sum of `assignments`
    std::deque<Assignment> assignments;
    DecayedCounter unanswered;
    Duration share_of_sum{0};  // its part of pending_sum_
    Slot newer = kNoSlot;      // in the order of use
    Slot older = kNoSlot;
  };
  struct NodeCost {
    Duration cost{0};      // as last reported; 0: unknown
    uint32_t reports = 0;  // number of reports that changed it
  };
  struct NodeCosts {
    NodeCost local;
    NodeCost reduce;
  };
  // Sum of the costs of one operator over all nodes.
  struct CostSum {
    Duration sum{0};
    int64_t count = 0;

    void Replace(NodeCost* kept, Duration cost);
    void Forget(NodeCost* kept);
    Duration Of(const NodeCost& node, Duration otherwise) const;
    Duration MeanOr(Duration otherwise) const { return count == 0 ? otherwise : sum / count; }
  };
  struct ServiceCosts {
    std::vector<NodeCosts> of_slot;  // slots beyond the end are unknown
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
  Slot newest_ = kNoSlot;  // most recently used
  Slot oldest_ = kNoSlot;
  absl::flat_hash_map<ServiceName, ServiceCosts> services_;
  Duration pending_sum_{0};
  int64_t reported_count_ = 0;
};

}  // namespace neptune
