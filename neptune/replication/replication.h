// A node's replicas of all services, and their exchange with those of other nodes.
//
//   module of a service ─► ReplicatedService ─► Replication ─► ReplicaAgent of each partition
//   other nodes ─► service "neptune.replication": Exchange, Snapshot ─► Replication
//   announcements ◄─ versions and primaries
//
// Source: [Shen02] 5.2.
// Threads: Host, Stop and Announce on the control loop, the rest any.
// Limits: those of replica_agent.h and replica_links.h; kSnapshotCountMax snapshots are sent at a time, and as many taken:
//   each of them is held in memory. Who asks for one more is refused (kResourceExhausted), and asks again. Who takes nothing
//   of one for kSnapshotTakeTimeMax, and who sends nothing for kSnapshotGiveTimeMax, is gone, and its place is free.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status_section.h"
#include "neptune/replication/replica_agent.h"
#include "neptune/replication/replica_links.h"
#include "neptune/replication/replica_metrics.h"
#include "neptune/replication/snapshot_places.h"
#include "neptune/service/client.h"
#include "neptune/service/service_module.h"

namespace neptune {

inline constexpr int kSnapshotCountMax = 4;
// Larger: slower receivers are borne with, others wait longer for the place of one that vanished.
inline constexpr Duration kSnapshotTakeTimeMax = std::chrono::seconds(10);
// A member reads all its data before it sends the first of them.
inline constexpr Duration kSnapshotGiveTimeMax = std::chrono::seconds(60);

// How a service is replicated; from the cluster spec.
struct ReplicationOptions {
  ConsistencyLevel level = ConsistencyLevel::kOrderedWrites;
  Duration staleness_max = std::chrono::seconds(1);
  ReplicationMode mode = ReplicationMode::kSafe;
  // As ReplicaAgentOptions has them.
  Lsn log_entries_kept = ReplicaAgentOptions().kept_count;
  size_t log_size_max = ReplicaAgentOptions().log_size_max;
  // Of the service; 0: not known.
  uint32_t partition_count = 0;
  // Who holds each partition, as ReplicaGroup has them.
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
    Client* client = nullptr;
    CapsuleStack* capsules = nullptr;    // may be null
    MetricsRegistry* metrics = nullptr;  // may be null
    // What the spec says of a service; nullopt: it does not replicate it.
    std::function<std::optional<ReplicationOptions>(const ServiceName&)> options;
    // Something is worth an announcement; may be null.
    std::function<void()> announce_soon;
  };
  explicit Replication(Environment environment);
  ~Replication();

  // Begins a partition's replica. `open_state` may block; null: this node is a witness. On a user-level thread.
  Status Host(const ServiceName& service, PartitionId partition,
              std::function<StatusOr<std::unique_ptr<ReplicatedState>>()> open_state,
              std::function<void(const LogEntry&)> before_write);
  // Null: it is not hosted. Valid as long as this.
  ReplicaAgent* Find(const ServiceName& service, PartitionId partition) const;
  // The module that answers other nodes.
  std::unique_ptr<ServiceModule> MakeModule();
  // Replicas take part no more; parks until nothing of them runs. Idempotent.
  void Stop();

  // The section of the next announcement.
  std::string Announce();
  void Describe(StatusReport* report) const;
  const Environment& environment() const { return environment_; }

 private:
  friend class ReplicationModule;
  using Key = std::pair<ServiceName, PartitionId>;

  Status Exchange(const Data& request);
  Status SendSnapshot(const Data& request, ServerStream& stream);
  StatusOr<ReplicaSnapshot> Fetch(const Key& key, const NodeId& from);
  ReplicaAgent::Hooks HooksOf(const Key& key);
  void ShowMetrics(const ReplicaAgent& agent);

  const Environment environment_;
  ReplicaLinks links_;
  SnapshotPlaces sent_{kSnapshotCountMax};
  SnapshotPlaces taken_{kSnapshotCountMax};
  mutable LeafMutex mutex_;
  std::map<Key, std::unique_ptr<ReplicaAgent>> agents_ ABSL_GUARDED_BY(mutex_);
  std::vector<ReplicaMetrics> metrics_;  // of the agents
  size_t next_announced_ = 0;
};

}  // namespace neptune
