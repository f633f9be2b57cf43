// The node's part in aggregations: serves tasks of trees, and calls aggregations of its own.
//
//   Aggregate (dac.h) ─► replicas ─► loads ─► tree ─► task for the root ──► Aggregator of another node
//                                                          ▲                   │ ServiceHost, children
//                         loads, records ◄─────────────────┴── answer ◄────────┘
//
// Source: [Chu03] 4, figure 6 (client module and provider module).
// Threads: AddLoop, Aggregate and what serves tasks on a loop of the node, with that loop's state; the rest from
//   any thread.
// Errors: of Aggregate: see dac.h. A task that cannot be served is answered with its reason.
// Limits: AggregatorOptions.

#pragma once

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
#include "neptune/dac/load_estimator.h"
#include "neptune/dac/load_gossip.h"
#include "neptune/dac/reduction_tree.h"
#include "neptune/dac/task_server.h"
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
  // Most tasks that the node serves at once. Default: 100,000, the parked requests a node is designed for.
  size_t serving_count_max = 100000;
  // See Aggregation::Environment. Default: 16 in debug builds, else none.
#ifdef NDEBUG
  uint32_t recheck_one_in = 0;
#else
  uint32_t recheck_one_in = 16;
#endif
  // How the members of a tree learn of their tasks. Default: kForward; README.md has the measurement.
  DisseminationMode dissemination = DisseminationMode::kForward;
  // Sends a datagram to the endpoints, or with none to every node. Required for the other modes.
  std::function<void(std::string bytes, std::vector<Endpoint> to)> tell;
  TaskServer::FindHost find_host;
  // How many servers are asked for their load at each call by a load-adaptive tree. It waits for their answers for at
  // most a twelfth of a mean local operator, and not at all where that is under 200 us: then they serve the next call.
  // Larger: fresher loads, more datagrams. Default: 2, and one of every 8 servers of a larger tree, for each knows only
  // some of the others' loads; each answer of a call brings the loads of its servers anyway.
  size_t poll_count = 2;
  // Whether polls also ask what servers have heard of each other, and callers of one node share what they know. False:
  // each knows what its own polls, announcements and answers tell. Default: true.
  bool hears = true;
  // Where polls are sent from.
  Endpoint poll_bind = {kLoopbackAddress, 0};
  // Tells the pending work of a node as it is now, in place of what the caller knows. For experiments only.
  std::function<Duration(const NodeId&)> load_oracle;
  LoadEstimatorOptions loads;
};

class Aggregator {
 public:
  static StatusOr<std::unique_ptr<Aggregator>> Make(const NodeId& node, NodeLoops& loops,
                                                    Client& client, MetricsRegistry& metrics,
                                                    AggregatorOptions options);
  // REQUIRES: the node's loops no longer run.
  ~Aggregator();

  // Before the first call or task of the current loop. Errors: those of opening the socket for polls.
  Status AddLoop();
  Status Aggregate(ClientSession& session, const AggregationRequest& request, Data* result,
                   AggregationReport* report);
  Status AggregateStream(ClientSession& session, const AggregationRequest& request,
                         const std::function<Status(const Data& message)>& take,
                         AggregationReport* report);
  // Lets trees over the service's streams use this node. After its module has started.
  void ServeStreams(ServiceHost& host);
  TaskServer& tasks() { return tasks_; }
  // Work that waits here, as time until all processors are done with it.
  Duration pending() const { return costs_.pending() / processor_count_; }

  // What the node has heard of others' loads, for who polls it.
  std::string Gossip(TimePoint now) const { return gossip_.Encode(now); }
  // The section of an announcement that tells this node's load.
  std::string AnnouncedLoad(const std::vector<HostedService>& services) const;
  // The latest trees that were called from here, drawn.
  void Describe(StatusReport* report) const { log_.Describe(report); }

 private:
  struct LoopState;
  struct Plan;

  Aggregator(const NodeId& node, NodeLoops& loops, Client& client, AggregatorOptions options,
             AggregationCounters counters);
  LoopState& State();
  void Place(const AggregationRequest& request, Plan* plan);
  // What both kinds of calls begin with.
  StatusOr<Plan> MakePlan(LoopState& state, const ClientSession& session,
                          const AggregationRequest& request, TimePoint now);
  static uint16_t MissingCountMax(const AggregationRequest& request, const Plan& plan);
  void Disseminate(const AggregationRequest& request, const ClientSession& session, Plan* plan);
  void Poll(LoopState& state, const ServiceName& service, const Plan& plan);
  void LookAtAnnouncements(LoopState& state, const ServiceName& service,
                           const std::vector<TreeMember>& members);
  void ReadGossip(LoopState& state, const ServiceName& service,
                  const std::vector<TreeMember>& members);
  Status Form(LoopState& state, const ServiceName& service, Plan* plan);
  std::vector<Aggregation::Options::Child> ChildrenOfCaller(const Plan& plan) const;
  Status Run(ClientSession& session, const AggregationRequest& request, const TraceContext& trace,
             RegisteredReduce reduce, const Plan& plan, Data* result, AggregationReport* report);
  static void Fill(const Plan& plan, const Status& status, AggregationAnswer* answer,
                   AggregationReport* report);
  void Learn(LoopState& state, const ServiceName& service, const Plan& plan,
             const AggregationReport& report, const Status& status);

  const NodeId node_;
  NodeLoops& loops_;
  Client& client_;
  const AggregatorOptions options_;
  const int processor_count_;
  CostMeter costs_;
  LoadGossip gossip_;
  Aggregation::Environment environment_;
  LeafMutex states_mutex_;
  std::map<Loop*, std::unique_ptr<LoopState>> states_ ABSL_GUARDED_BY(states_mutex_);
  TaskServer tasks_;
  AggregationLog log_;
};

}  // namespace neptune
