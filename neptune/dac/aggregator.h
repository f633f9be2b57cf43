// Aggregations of a node: serves the tasks of reduction trees, and calls aggregations itself.
//
//   Aggregate ─► replicas ─► loads ─► tree ─► task for the root ─► Aggregator of another node
//                                                  ▲                  │ ServiceHost, children
//                         loads, records ◄─────────┴── answer ◄───────┘
//
// Source: [Chu03] 4, figure 6 (client module and provider module).
// Threads: AddLoop, Aggregate and the serving of tasks run on a loop of the node, with that loop's
//   state; the rest on any thread.
// Errors: Aggregate: see dac.h. A task that cannot be served is answered with the error.
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

// Tag of the announcement section with the node's load.
inline constexpr uint8_t kAggregationLoadSection = 1;

struct AggregatorOptions {
  // Returns the scheme of a service, for calls that do not choose one.
  std::function<TreeScheme(const ServiceName&)> scheme = [](const ServiceName&) {
    return TreeScheme::kLoadAdaptive;
  };
  // Subtracted from each stage's deadline for everything except reductions: network, event queue.
  // Larger: fewer answers arrive too late, but slow servers get less time. Default: 2 ms, ten
  // one-way delays of a cluster's network.
  Duration stage_margin = std::chrono::milliseconds(2);
  // Time after the deadline for which the caller still accepts the root's answer. Default: 3 ms, so
  // that a call ends at most 5 ms after its deadline.
  Duration answer_grace = std::chrono::milliseconds(3);
  // Maximum number of tasks that the node serves at once. Default: 100,000, the number of parked
  // requests that a node is designed for.
  size_t serving_count_max = 100000;
  // See Aggregation::Environment. Default: 16 in debug builds, else none.
#ifdef NDEBUG
  uint32_t recheck_one_in = 0;
#else
  uint32_t recheck_one_in = 16;
#endif
  // How tasks are sent to the members of a tree. Default: kForward; README.md has the measurement.
  DisseminationMode dissemination = DisseminationMode::kForward;
  // Sends a datagram to the endpoints, or to every node if there are none. Required unless
  // kForward.
  std::function<void(std::string bytes, std::vector<Endpoint> to)> tell;
  TaskServer::FindHost find_host;
  // Number of servers polled for their load by each call with a load-adaptive tree. The call waits
  // for the answers for at most a twelfth of a mean local operator, and not at all if that is under
  // 200 us; late answers serve the next call. Larger: fresher loads, more datagrams. Default: 2,
  // and one of every 8 servers of a larger tree, because each server knows only some of the others'
  // loads. Each answer of a call brings the loads of its servers anyway.
  size_t poll_count = 2;
  // Uses gossip: polls also return the loads of other servers, and the calling loops of one node
  // share their knowledge. False: each loop uses its own polls, announcements and answers only.
  // Default: true.
  bool hears = true;
  // Source address of polls.
  Endpoint poll_bind = {kLoopbackAddress, 0};
  // Returns the exact pending work of a node, instead of the caller's estimate. For experiments
  // only.
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

  // Must be called before the first call or task of the current loop. Errors: those of opening the
  // poll socket.
  Status AddLoop();
  Status Aggregate(ClientSession& session, const AggregationRequest& request, Data* result,
                   AggregationReport* report);
  Status AggregateStream(ClientSession& session, const AggregationRequest& request,
                         const std::function<Status(const Data& message)>& take,
                         AggregationReport* report);
  // Makes this node serve trees over the service's streams. REQUIRES: the module has started.
  void ServeStreams(ServiceHost& host);
  TaskServer& tasks() { return tasks_; }
  // Pending work of this node, as the time until all processors have finished it.
  Duration pending() const { return costs_.pending() / processor_count_; }

  // Encodes the known loads of other nodes, for the answer to a poll.
  std::string Gossip(TimePoint now) const { return gossip_.Encode(now); }
  // Encodes this node's load as a section of its announcement.
  std::string AnnouncedLoad(const std::vector<HostedService>& services) const;
  // Draws the trees of the latest calls from this node.
  void Describe(StatusReport* report) const { log_.Describe(report); }

 private:
  struct LoopState;
  struct Plan;

  Aggregator(const NodeId& node, NodeLoops& loops, Client& client, AggregatorOptions options,
             AggregationCounters counters);
  LoopState& State();
  void Place(const AggregationRequest& request, Plan* plan);
  // The common part of Aggregate and AggregateStream.
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
