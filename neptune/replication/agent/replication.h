// All replicas of a node, and their communication with replicas of other nodes.
//
//   module of a service ─► ReplicatedService ─► Replication ─► ReplicaKeeper of each partition
//                                                                 └─► ReplicaAgent, its current life
//   other nodes ─► "neptune.replication": Exchange, Pulse ─► Replication
//                  "neptune.snapshots": PullSnapshot ─► Replication
//   announcements ◄─ versions and primaries
//
// Source: [Shen02] 5.2.
// Threads: Stop and Announce on the control loop, Host on a user-level thread of any loop of the
//   node, the rest on any thread.
// Errors: a replica that fails, now or later, is opened again by its ReplicaKeeper; Host returns
//   only the errors of ReplicaKeeper::Start.
// Limits: those of replica_agent.h and replica_links.h; at most kSnapshotCountMax snapshots are
//   sent, and as many restored, at a time. Further ones are refused (kResourceExhausted) and
//   retried. A pull takes at most kPullTimeout; a receiver that pulls nothing for
//   kSnapshotIdleMax counts as dead and its place is freed.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/disk_room.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/memory_budget.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status_section.h"
#include "neptune/replication/agent/data_scrubber.h"
#include "neptune/replication/agent/log_committer.h"
#include "neptune/replication/agent/log_scrubber.h"
#include "neptune/replication/agent/node_pulses.h"
#include "neptune/replication/agent/replica_agent.h"
#include "neptune/replication/agent/replica_keeper.h"
#include "neptune/replication/agent/replica_links.h"
#include "neptune/replication/agent/replica_metrics.h"
#include "neptune/replication/agent/replica_totals.h"
#include "neptune/replication/agent/snapshot_message.h"
#include "neptune/replication/agent/snapshot_places.h"
#include "neptune/replication/client/version_section.h"
#include "neptune/service/client.h"
#include "neptune/service/service_module.h"

namespace neptune {

// A node with more replicas than this exchanges pulses with the nodes that share them, so that idle
// partitions rest. Larger: more nodes send heartbeats for each partition, and always know how
// current their data are.
inline constexpr size_t kAwakeReplicaCountMax = 32;
// Replicas of a node that have metrics of their own; totals count every replica.
// Larger: more series a node, and pages of metrics that are longer and take longer to make.
inline constexpr size_t kOwnMetricsCountMax = 128;
// Larger: more members are filled at once, each more slowly, and all with more of the disks' time.
inline constexpr int kSnapshotCountMax = 4;
inline constexpr Duration kPullTimeout = std::chrono::seconds(10);
// For the report that a transfer is over; lost ones cost the sender kSnapshotIdleMax.
inline constexpr Duration kLeaveTimeout = std::chrono::seconds(1);
inline constexpr size_t kFailureCountMax = 20;

// Replication options of a service, from the cluster spec.
struct ReplicationOptions {
  ConsistencyLevel level = ConsistencyLevel::kOrderedWrites;
  Duration staleness_max = std::chrono::seconds(1);
  ReplicationMode mode = ReplicationMode::kSafe;
  // See ReplicaAgentOptions::kept_count, log_size_max and scrub_interval.
  Lsn log_entries_kept = ReplicaAgentOptions().kept_count;
  size_t log_size_max = ReplicaAgentOptions().log_size_max;
  Duration scrub_interval = ReplicaAgentOptions().scrub_interval;
  // Partition count of the service; 0: not known.
  uint32_t partition_count = 0;
  // Members of a partition, the preferred primary first.
  std::function<std::vector<ReplicaMember>(PartitionId)> members;
};

class Replication {
 public:
  struct Environment {
    NodeId node;
    std::string cluster;
    World* world = nullptr;
    NodeLoops* loops = nullptr;
    NodeLoop* control = nullptr;
    // The loop that executes writes and receives snapshots. Null: this node keeps no replicas.
    NodeLoop* apply = nullptr;
    Client* client = nullptr;
    CapsuleStack* capsules = nullptr;    // may be null
    MetricsRegistry* metrics = nullptr;  // may be null
    const DiskRoom* disk = nullptr;      // may be null
    // What snapshots have in memory is charged to it; may be null.
    std::shared_ptr<MemoryBudget> memory;
    // The spec's options for a service; nullopt: the service is not replicated.
    std::function<std::optional<ReplicationOptions>(const ServiceName&)> options;
    // Requests an announcement soon; may be null.
    std::function<void()> announce_soon;
    // False while callers do not reach this node's services although its control loop runs: its
    // members then neither stay nor become primaries. Called on the control loop; null: true.
    std::function<bool()> can_serve;
  };
  explicit Replication(Environment environment);
  ~Replication();

  // The data of a partition on this node; see ReplicaAgent::Hooks. Without `open` this node is a
  // witness.
  struct HostedData {
    std::function<StatusOr<std::unique_ptr<ReplicatedState>>()> open;
    std::function<Status()> destroy;
    std::function<void(const LogEntry&)> before_write;
  };
  // Starts a partition's replica. Calls of one loop's threads, also at the same time.
  Status Host(const ServiceName& service, PartitionId partition, HostedData data);
  // Null: not hosted here. The pointer is valid as long as this object.
  ReplicaKeeper* FindKeeper(const ServiceName& service, PartitionId partition) const;
  // Null: not hosted here, or not open now.
  std::shared_ptr<ReplicaAgent> Find(const ServiceName& service, PartitionId partition) const;
  // The modules that serve other nodes: as kReplicationService and as kSnapshotService.
  std::unique_ptr<ServiceModule> MakeModule();
  std::unique_ptr<ServiceModule> MakeSnapshotModule();
  // Stops all replicas; parks until all their threads have ended. Idempotent.
  void Stop();

  // The section of the next announcement.
  std::string Announce();
  // False: there was no store of this name when the first replica was started.
  bool MayHaveStore(const std::string& name);
  void Describe(StatusReport* report) const;
  // The replicas that do not work, each with the reason, for /readyz; at most kFailureCountMax.
  std::vector<std::string> Failures() const;
  const Environment& environment() const { return environment_; }

 private:
  friend class ReplicationModule;
  friend class SnapshotModule;
  using Key = std::pair<ServiceName, PartitionId>;

  Status Exchange(const RequestContext& context, const Data& request);
  Status AnswerPulse(const RequestContext& context, const Data& request, Data* response);
  NodePulses::Hooks PulseHooks();
  // Begins pulses, once there are replicas enough, to the nodes of `added` and of those before it.
  void WatchNodesOf(const ReplicaKeeper& added);
  // Tells all open replicas of which the node is a member.
  void HandPeerNews(const NodeId& node, PeerNews news);
  std::vector<std::shared_ptr<ReplicaAgent>> Agents() const;
  Status SendChunk(const RequestContext& context, const Data& request, Data* response);
  StatusOr<SnapshotChunk> Fetch(const ReplicaAgentOptions& replica, MemberIndex from,
                                SnapshotPull pull);
  // Errors: this node is not a member.
  StatusOr<ReplicaAgentOptions> OptionsOf(const Key& key) const;
  ReplicaAgent::Hooks HooksOf(const ReplicaAgentOptions& replica);
  void SendFrom(const ReplicaAgentOptions& replica, MemberIndex to, const ProtocolMessage& message);
  AnnouncedVersion VersionOf(const Key& key, const ReplicaKeeper& keeper,
                             const ReplicaAgent& agent) const;
  // The log of this node, made for its first replica.
  std::shared_ptr<LogCommitter> Logs();
  void ShowMetrics(const ReplicaKeeper& keeper);
  void ShowLogMetrics();
  // Lets the replicas look at what their logs have lost.
  void CheckLogs();
  void DescribeLog(StatusReport* report) const;

  const Environment environment_;
  ReplicaLinks links_;
  NodePulses pulses_;
  SnapshotPlaces sent_{kSnapshotCountMax};
  SnapshotPlaces taken_{kSnapshotCountMax};
  std::shared_ptr<LogCommitter> logs_;  // changed on the control loop, with mutex_ held
  mutable LeafMutex mutex_;
  std::map<Key, std::unique_ptr<ReplicaKeeper>> keepers_ ABSL_GUARDED_BY(mutex_);
  std::optional<ReplicaTotals> totals_;
  std::vector<ReplicaMetrics> metrics_;  // of the first keepers
  DataScrubber scrubber_;
  LogScrubber log_scrubber_;
  std::vector<CallbackGauge> log_metrics_;
  Key last_announced_;       // by the last announcement
  bool has_pulses_ = false;  // used on the control loop
};

}  // namespace neptune
