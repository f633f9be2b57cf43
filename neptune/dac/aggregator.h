// The node's part in aggregations: serves tasks of trees, and calls aggregations of its own.
//
//   Aggregate (dac.h) ─► replicas ─► loads ─► tree ─► task for the root ──► Aggregator of another node
//                                                          ▲                   │ ServiceHost, children
//                         loads, records ◄─────────────────┴── answer ◄────────┘
//
// Source: DAC 4, figure 6 (client module and provider module).
// Layer: dac.
// Threads: AddLoop, Take, Aggregate and StopLoop on a loop of the node, with that loop's state; the rest from
//   any thread.
// Errors: of Aggregate: see dac.h. A task that cannot be served is answered with its reason.
// Limits: AggregatorOptions.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status_section.h"
#include "neptune/dac/aggregation.h"
#include "neptune/dac/aggregation_log.h"
#include "neptune/dac/cost_meter.h"
#include "neptune/dac/dac.h"
#include "neptune/dac/load_book.h"
#include "neptune/dac/reduction_tree.h"
#include "neptune/service/service_host.h"

namespace neptune {

// Tag of an announcement's section with the node's load.
inline constexpr uint8_t kAggregationLoadSection = 1;

struct AggregatorOptions {
  // Scheme of a service that a call does not choose for itself.
  std::function<TreeScheme(const ServiceName&)> scheme = [](const ServiceName&) {
    return TreeScheme::kLoadAdaptive;
  };
  // Taken off each stage's deadline for all that is no reduction: the way, the queue of events. Larger: fewer
  // answers come too late, and slow servers get less time. Default: 2 ms, ten ways through a cluster's network.
  Duration stage_margin = std::chrono::milliseconds(2);
  // How long after the deadline the caller still takes the root's answer. Default: 3 ms: an answer is there by
  // the deadline + 5 ms or not at all.
  Duration answer_grace = std::chrono::milliseconds(3);
  // Most aggregations that one loop serves at once. Default: 100,000, the parked requests a node is designed for.
  size_t serving_count_max = 100000;
  // See Aggregation::Environment. Default: 16 in debug builds, else none.
#ifdef NDEBUG
  uint32_t recheck_one_in = 0;
#else
  uint32_t recheck_one_in = 16;
#endif
  // Tells the pending work of a node as it is now, in place of what the caller knows. For experiments only.
  std::function<Duration(const NodeId&)> load_oracle;
  LoadBookOptions loads;
};

class Aggregator {
 public:
  static StatusOr<std::unique_ptr<Aggregator>> Make(const NodeId& node, NodeLoops& loops,
                                                    Client& client, MetricsRegistry& metrics,
                                                    AggregatorOptions options);
  // REQUIRES: the node's loops no longer run.
  ~Aggregator();

  // Before the first call or task of the current loop.
  void AddLoop();

  // Serves a task: a request of kAggregateMethod to `host`'s service.
  void Take(IncomingRequest&& request, ServiceHost& host);
  Status Aggregate(ClientSession& session, const AggregationRequest& request, Data* result,
                   AggregationReport* report);
  // Ends the tasks that the current loop serves; their callers are told that the node stops.
  void StopLoop();

  // The section of an announcement that tells this node's load.
  std::string AnnouncedLoad(const std::vector<HostedService>& services) const;
  // The latest trees that were called from here, drawn.
  void Describe(StatusReport* report) const { log_.Describe(report); }
  // Tasks that are being served. Any thread.
  size_t serving_count() const { return serving_count_.load(std::memory_order_relaxed); }

 private:
  struct LoopState;
  struct Plan;

  Aggregator(const NodeId& node, NodeLoops& loops, Client& client, AggregatorOptions options,
             AggregationCounters counters);
  LoopState& State();
  Status Serve(IncomingRequest& request, ServiceHost& host, AggregationTask task);
  void Answer(Reply reply, Aggregation::End end);
  void ScheduleAccepting(LoopState& state, TimePoint when);
  static std::vector<Aggregation::Options::Child> ChildrenOf(const AggregationTask& task,
                                                             TimePoint deadline, TimePoint now);
  void Place(const AggregationRequest& request, Plan* plan);
  void LookAtAnnouncements(LoopState& state, const ServiceName& service,
                           const std::vector<TreeMember>& members);
  Status Form(LoopState& state, const ServiceName& service, Plan* plan);
  std::vector<Aggregation::Options::Child> ChildrenOfCaller(const Plan& plan) const;
  Status Run(ClientSession& session, const AggregationRequest& request, const TraceContext& trace,
             RegisteredReduce reduce, const Plan& plan, Data* result, AggregationReport* report);
  static void Fill(const Plan& plan, const Status& status, AggregationAnswer* answer,
                   AggregationReport* report);
  void Learn(LoopState& state, const ServiceName& service, const Plan& plan,
             const AggregationReport& report, bool cancelled);

  const NodeId node_;
  NodeLoops& loops_;
  Client& client_;
  const AggregatorOptions options_;
  const int processor_count_;
  CostMeter costs_;
  Aggregation::Environment environment_;
  LeafMutex states_mutex_;
  std::map<Loop*, std::unique_ptr<LoopState>> states_ ABSL_GUARDED_BY(states_mutex_);
  std::atomic<size_t> serving_count_{0};
  AggregationLog log_;
};

}  // namespace neptune
