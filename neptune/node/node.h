// A node: wires all layers together for one process (or one simulated host).
//
//   serving loops: NodeServers ─► ServiceHost of the named service ─► in place, or
//   worker loops:  long requests of all services
//   control loop: membership, load index, replication's protocol, start and stop; no user's code
//   apply loop: replicated writes, on nodes that keep replicas
//   admin loop: metrics and status pages, responsive when all other loops are busy
//
// The node owns these parts and runs their start and their stop; each has a header of its own. They
// are members in the order in which each may use those before it; callbacks, which run after all
// are made, may use any.
//
// Source: [Shen02] 2.2, figure 2.3 (functionally symmetric node).
// Threads: Start and Stop from any thread; callbacks run on the control loop.
// Errors: Start: the error of opening a socket or starting a module. If a module fails to start the
//   node does not start, so that a misconfigured node is never partly available. A replica whose
//   log or data fail does not keep the node from starting: it is opened later (replica_keeper.h).

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/node/node_options.h"
#include "neptune/service/client.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

class Aggregator;
class CallerPolicy;
class CapsuleStack;
class DiskWatch;
class HostedServices;
class LineLog;
class LoopWatch;
class NodeAdmin;
class NodeBudgets;
class NodeCapsules;
class NodeLoops;
class NodeMembership;
class NodeRuntime;
class NodeSecurity;
class NodeServers;
class NodeStatus;
class OperatorRegistry;
class RefusalLog;
class Replication;
class ServiceHost;
class SpanLog;
class StallWatch;
class YellowPageView;
struct Announcement;
struct IncomingRequest;
struct LoadReport;
struct NodeLoop;
struct NodeMetrics;
using ServiceHosts = std::map<std::string, std::unique_ptr<ServiceHost>, std::less<>>;

class Node {
 public:
  Node(World& world, NodeOptions options);
  // REQUIRES: the node's loops no longer run.
  ~Node();

  // Starts the node; `on_started` is called once.
  void Start(absl::AnyInvocable<void(Status)> on_started);
  // Announces the departure, waits for requests in flight for at most `grace`, then ends the waits
  // of methods that still run, stops the modules, and ends all other user-level threads. A module
  // whose methods still run then is not stopped. After a failed start, stops the parts that had
  // started. A repeated call completes together with the first one.
  void Stop(Duration grace, absl::AnyInvocable<void()> on_stopped);

  const NodeId& name() const { return options_.name; }
  // Valid once started.
  Endpoint call_endpoint() const;
  Endpoint control_endpoint() const;
  Endpoint admin_endpoint() const { return admin_endpoint_; }
  Client& client() { return *client_; }
  CapsuleStack& capsules();
  NodeLoops& loops();
  MetricsRegistry& metrics() { return metrics_; }
  SpanLog& spans() { return *spans_; }
  // Log of refused connections and datagrams.
  const RefusalLog& refusals() const;
  // The node's replicas. Valid once started.
  Replication& replication() { return *replication_; }
  // Null: the node has not come so far in its start. Used on the control loop, or while none runs.
  Replication* FindReplication() { return replication_.get(); }
  // The hosted services. Any thread, once started.
  const ServiceHosts& services() const;
  // The node's current view of the cluster. Any thread.
  std::shared_ptr<const YellowPageView> View() const;
  // Active and queued requests of all services. Any thread, once started.
  uint32_t LoadIndex() const;
  // See Aggregator::pending. Any thread, once started.
  Duration PendingAggregationWork() const;
  // Runs `body` on a user-level thread of the control loop.
  void RunOnControl(Task body);

 private:
  // The start, in this order.
  Status Boot();
  Status StartBudgets();
  Status MakeAggregator();
  Status PrepareLoop(NodeLoop& loop);
  Status OpenSpanLog();
  Status StartServers();
  void MakeReplication();
  Status StartAdmin();
  Status StartReplication();
  Status StartMembership();
  Status StartWatches();

  // A request that arrived at the call or at the control endpoint.
  void HandleRequest(IncomingRequest&& request, bool at_control);
  // The error of a request for a service that HostedServices::Find does not return.
  Status WhyNotHere(const ServiceName& service) const;
  // Returns the load of the node and the state of the service here. On the control loop.
  LoadReport Load(std::string_view service) const;
  // Handles datagrams at the probe endpoint that are neither polls nor probes.
  void HandleProbe(std::string_view bytes);
  void Describe(Announcement* announcement);

  // The stop, in this order.
  void Shutdown(Duration grace);
  void SayGoodbye();
  void FinishCalls(Duration grace);
  // Ends the waits of all user-level threads of the node; later waits end at once.
  void StopThreads();

  World& world_;
  const NodeOptions options_;
  const NodeSpec& spec_;
  const uint32_t address_;
  const uint64_t incarnation_;  // larger than those of earlier nodes of this name
  MetricsRegistry metrics_;
  StatusSections sections_;
  const std::unique_ptr<NodeMetrics> counters_;  // set before the loops are prepared
  const std::unique_ptr<NodeBudgets> budgets_;
  const std::unique_ptr<SpanLog> spans_;
  std::unique_ptr<LineLog> span_file_;  // null: spans are not written
  const std::unique_ptr<NodeSecurity> security_;
  std::unique_ptr<const CallerPolicy> caller_policy_;  // null: callers are not known
  const std::unique_ptr<NodeCapsules> capsules_;
  const std::unique_ptr<NodeRuntime> runtime_;
  const std::unique_ptr<OperatorRegistry> operators_;
  const std::unique_ptr<Client> client_;
  const std::unique_ptr<HostedServices> services_;
  std::unique_ptr<Aggregator> aggregator_;
  std::unique_ptr<Replication> replication_;
  const std::unique_ptr<NodeServers> servers_;
  const std::unique_ptr<NodeMembership> membership_;
  const std::unique_ptr<LoopWatch> loop_watch_;
  std::unique_ptr<DiskWatch> disk_watch_;  // null: the node stores nothing
  std::unique_ptr<StallWatch> stall_watch_;
  std::unique_ptr<NodeAdmin> admin_;
  std::unique_ptr<NodeStatus> status_;
  Endpoint admin_endpoint_;
  std::atomic<bool> draining_{false};
  // Accessed on the control loop only.
  std::vector<absl::AnyInvocable<void()>> stop_waiters_;
  bool boot_ended_ = false;
  bool stopped_ = false;
};

}  // namespace neptune
