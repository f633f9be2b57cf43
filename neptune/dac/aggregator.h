// Aggregations of a node: serves the tasks of reduction trees, and calls aggregations itself.
//
//   Aggregate ─► Placement ─► KnownLoads ─► CallTree ─► CallStages ─► CallPlan ─► task of the root
//                                 ▲                        ▲                       │
//                                 └── records ─────────────┴────────── answer ◄────┘
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
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status_section.h"
#include "neptune/dac/aggregation_log.h"
#include "neptune/dac/aggregator_options.h"
#include "neptune/dac/cost_meter.h"
#include "neptune/dac/dac.h"
#include "neptune/dac/load_gossip.h"

namespace neptune {

struct AggregationCounters;
struct AggregationEnvironment;
struct CallPlan;
class NodeLoops;
class ServiceHost;
class TaskServer;
struct HostedService;
struct NodeTask;

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
  TaskServer& tasks() { return *tasks_; }
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
  struct PlannedCall;
  struct CallEnd;

  Aggregator(const NodeId& node, NodeLoops& loops, Client& client, AggregatorOptions options,
             const AggregationCounters& counters);
  LoopState& State();
  TreeScheme SchemeOf(const AggregationRequest& request) const;
  // Places the partitions, estimates loads, forms the tree, chooses the stages.
  StatusOr<CallPlan> MakePlan(LoopState& state, const ClientSession& session,
                              const AggregationRequest& request, TimePoint now);
  AggregationPlan WireOf(const AggregationRequest& request, const CallPlan& plan) const;
  uint64_t Disseminate(const AggregationRequest& request, const ClientSession& session,
                       const CallPlan& plan);
  // Moves the reduce operator from the call.
  NodeTask CallersTask(PlannedCall& call) const;
  CallEnd Run(PlannedCall& call);
  void Learn(LoopState& state, const PlannedCall& call, const CallEnd& end);
  void ConcludeChoices(const CallPlan& plan, const AggregationReport& report, bool failed);

  const NodeId node_;
  NodeLoops& loops_;
  Client& client_;
  const AggregatorOptions options_;
  const int processor_count_;
  CostMeter costs_;
  LoadGossip gossip_;
  const std::unique_ptr<AggregationEnvironment> environment_;
  LeafMutex states_mutex_;
  std::map<Loop*, std::unique_ptr<LoopState>> states_ ABSL_GUARDED_BY(states_mutex_);
  const std::unique_ptr<TaskServer> tasks_;
  AggregationLog log_;
};

}  // namespace neptune
