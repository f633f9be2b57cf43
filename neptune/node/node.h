// A node: wires all layers together for one process (or one simulated host).
//
//   serving loops: FrameServer ─► ServiceHost of the named service ─► in place, or
//   worker loops:  long requests of all services
//   control loop (the first serving loop): membership, load index, start and stop
//   admin loop: metrics and status pages, responsive when all other loops are busy
//
// Source: [Shen02] 2.2, figure 2.3 (functionally symmetric node).
// Threads: Start and Stop from any thread; callbacks run on the control loop.
// Errors: Start: the error of opening a socket or starting a module. If a module fails to start the
//   node does not start, so that a misconfigured node is never partly available.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/balancing/replica_policy.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status_section.h"
#include "neptune/dac/aggregator.h"
#include "neptune/membership/availability_listener.h"
#include "neptune/membership/availability_publisher.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/node/node_capsules.h"
#include "neptune/node/node_metrics.h"
#include "neptune/node/node_security.h"
#include "neptune/node/node_services.h"
#include "neptune/service/client.h"
#include "neptune/service/line_log.h"
#include "neptune/service/service_host.h"
#include "neptune/wire/server_connection.h"

namespace neptune {

class AdminServer;
class Replication;

// Creates the module of that name.
using ModuleFactory =
    std::function<StatusOr<std::unique_ptr<ServiceModule>>(const std::string& module)>;

struct NodeOptions {
  ClusterSpec spec;  // completed by CompleteClusterSpec
  NodeId name;
  // Folder that relative paths in parameters are resolved against.
  std::string base_directory;
  // The same for the paths of the spec itself: capsule files, token file, keys and certificates.
  std::string spec_directory;
  ModuleFactory modules;
  // Address to bind and to announce. Unset: the spec's interface_address.
  std::optional<uint32_t> address;
  YellowPageOptions yellow_page;
  // Makes the policy by which a loop chooses replicas, instead of the spec's `balancing`; see
  // replica_policy.h. Null: the spec's.
  MakeReplicaPolicy make_replica_policy;
  // See AggregatorOptions::load_oracle. For experiments only.
  std::function<Duration(const NodeId&)> load_oracle;
  // See AggregatorOptions.
  DisseminationMode dissemination = DisseminationMode::kForward;
  std::optional<uint32_t> recheck_one_in{};
  // Load estimation of the node's callers.
  LoadEstimatorOptions load_estimator;
  // See AggregatorOptions::poll_count.
  size_t load_poll_count = 2;
  // See AggregatorOptions::hears.
  bool hears_loads = true;
  // File for sampled spans, as lines of OTLP JSON. Empty: spans are not written.
  std::string span_log;
  // Serves /metrics and status pages.
  bool with_admin = true;
  // Adds pages that only nodes of one world have; called before the administration starts. Default:
  // none.
  std::function<void(AdminServer&)> add_admin_pages;
  // See ServiceHostOptions.
  bool with_method_statistics = true;
  std::optional<Duration> stall_timeout{};
  // See CapsuleStackOptions::with_default.
  bool with_default_capsule = true;
  // Duration of device calls in the simulated world; see CapsuleStackOptions. Default: zero.
  std::function<Duration(std::string_view path)> device_time;
};

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
  Endpoint call_endpoint() const { return identity_.call_endpoint; }
  Endpoint admin_endpoint() const { return identity_.admin_endpoint; }
  Client& client() { return *client_; }
  CapsuleStack& capsules() { return capsules_.stack(); }
  NodeLoops& loops() { return loops_; }
  MetricsRegistry& metrics() { return metrics_; }
  SpanLog& spans() { return spans_; }
  // Log of refused connections and datagrams.
  const RefusalLog& refusals() const { return security_.refusals(); }
  // The node's replicas. Valid once started.
  Replication& replication() { return *replication_; }
  // The hosted services. Any thread, once started.
  const ServiceHosts& services() const { return hosts_; }
  // The node's current view of the cluster. Any thread.
  std::shared_ptr<const YellowPageView> View() const;
  // Active and queued requests of all services. Any thread, once started.
  uint32_t LoadIndex() const { return loops_.load_index(); }
  // See Aggregator::pending. Any thread, once started.
  Duration PendingAggregationWork() const { return aggregator_->pending(); }
  // Runs `body` on a user-level thread of the control loop.
  void RunOnControl(Task body);

 private:
  Status Boot();
  Status MakeAggregator();
  TreeScheme SchemeOf(const ServiceName& service) const;
  // Sends a datagram to the endpoints, or to every node if there are none.
  void Tell(const std::string& bytes, const std::vector<Endpoint>& to);
  void TellAll(const std::string& bytes);
  Status StartLoops();
  Status PrepareLoop(NodeLoop& loop);
  Status OpenSpanLog();
  Status StartServers();
  Status StartReplication();
  Status StartServices();
  Status StartService(const HostedServiceSpec& hosted);
  Status StartMembership();
  Status OpenMulticast();
  Status OpenDirectory();
  void LookForStalls();
  Status StartAdmin();
  StatusOr<std::string> ReadAdminToken() const;
  Status AddStatusSections();
  // Handles datagrams at the probe endpoint that are neither polls nor probes.
  void HandleProbeAnswer(std::string_view bytes);
  void HandleRequest(IncomingRequest&& request);
  // Returns the load of the node and the state of the service here. On the control loop.
  LoadReport Load(std::string_view service) const;
  void AdoptView(std::shared_ptr<const YellowPageView> view);
  void FillAnnouncement(Announcement* announcement);
  void Shutdown(Duration grace);
  void SayGoodbye();
  void FinishCalls(Duration grace);
  void StopModules();
  // Ends the waits of all user-level threads of the node; later waits end at once.
  void StopThreads();
  // Waits until `done` returns true, for at most `limit`. Stopping the control loop's threads does
  // not end this wait.
  bool WaitUntil(const std::function<bool()>& done, Duration limit);
  bool OnlyThisThreadLives();
  size_t InFlightCount();
  size_t ConnectionCount();
  // Runs `work` on `loop` and parks until it has returned.
  void RunOn(NodeLoop& loop, absl::AnyInvocable<void()> work);

  World& world_;
  const NodeOptions options_;
  const NodeSpec& spec_;
  const uint32_t address_;
  Announcement identity_;
  MetricsRegistry metrics_;
  NodeMetrics counters_;  // set before the loops are prepared
  StatusSections status_;
  SpanLog spans_;
  std::unique_ptr<LineLog> span_file_;
  NodeSecurity security_;
  NodeCapsules capsules_;
  NodeLoops loops_;
  OperatorRegistry operators_;
  std::unique_ptr<Client> client_;
  NodeLoop* control_ = nullptr;
  ServiceHosts hosts_;  // fixed after Start
  std::unique_ptr<Aggregator> aggregator_;
  std::unique_ptr<Replication> replication_;
  std::vector<std::unique_ptr<FrameServer>> servers_;  // one per serving loop
  std::unique_ptr<LoadIndexServer> load_index_server_;
  std::unique_ptr<AnnouncementChannel> channel_;
  // Multicast of tasks: the announcements' group, the next port. Null with a directory.
  std::unique_ptr<AnnouncementChannel> task_channel_;
  std::unique_ptr<AvailabilityListener> listener_;
  std::unique_ptr<AvailabilityPublisher> publisher_;
  std::unique_ptr<AdminServer> admin_;
  std::vector<StatusSection> sections_;
  std::vector<CallbackGauge> gauges_;
  // The next five are accessed on the control loop only.
  std::vector<absl::AnyInvocable<void()>> stop_waiters_;
  size_t stalled_count_ = 0;  // stalled services at the last check
  TimerId stall_timer_ = 0;
  bool boot_ended_ = false;
  bool stopped_ = false;
  std::atomic<bool> ready_{false};
  std::atomic<bool> draining_{false};
  mutable LeafMutex view_mutex_;
  std::shared_ptr<const YellowPageView> view_ ABSL_GUARDED_BY(view_mutex_);
};

}  // namespace neptune
