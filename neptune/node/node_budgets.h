// The budgets of a node: memory, connections and disk. Each has a limit at which the node refuses
// with a clear error, shows that in a metric, and serves the rest as usual. README.md lists them.
//
//   cluster spec, World::resources ─► BudgetSizesOf ─► MemoryBudget     servers, connections
//                                                  ─► ConnectionSlots   servers
//                                                  ─► DiskRoom          replicas, logs
//
// Threads: thread-safe, but AddTo, on the control loop.
// Units: bytes.
// Errors: AddTo: those of MetricsRegistry.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/disk_room.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/wire/connection_slots.h"
#include "neptune/wire/wire_memory.h"
#include "neptune/world/world.h"

namespace neptune {

class ClusterSpec;
class NodeSpec;

struct BudgetSizes {
  // The spec's memory_budget_mib, or a quarter of the memory, at least kMemoryBudgetMibMin.
  size_t memory = 0;
  // Descriptors for storage, administration, calls to other nodes and files, at most half of all;
  // and for connections that take the place of one that is being closed.
  size_t reserved_descriptors = 0;
  // Unauthenticated connections of each serving loop; 0: the nodes trust their network.
  size_t handshakes = 0;
  // The spec's connection_count_max, but not more than the other descriptors and the memory allow.
  size_t connections = 0;
  // The spec's disk_reserve_mib; 0: see DiskRoom.
  uint64_t disk_reserve = 0;
};

// REQUIRES: the spec is complete.
BudgetSizes BudgetSizesOf(const ClusterSpec& cluster, const NodeSpec& node,
                          const HostResources& resources);

class NodeBudgets {
 public:
  NodeBudgets(const ClusterSpec& cluster, const NodeSpec& node, const HostResources& resources);

  const WireMemory& memory() const { return memory_; }
  const std::shared_ptr<ConnectionSlots>& slots() const { return slots_; }
  // Maximum number of connections of a loop that are not authenticated yet.
  size_t handshake_count_max() const { return sizes_.handshakes; }
  DiskRoom& disk() { return disk_; }
  const DiskRoom& disk() const { return disk_; }

  // `metrics` outlives this. `with_disk`: the node stores data.
  Status AddTo(MetricsRegistry& metrics, bool with_disk);
  void Describe(StatusReport* report) const;
  // Why the node is not ready: its disk is full; nullopt otherwise.
  std::optional<std::string> WhyNotReady() const;

 private:
  using Read = std::function<double()>;
  Status AddGauge(MetricsRegistry& metrics, std::string_view name, std::string_view help,
                  const MetricLabels& labels, Read read);
  Status AddCounter(MetricsRegistry& metrics, std::string_view name, std::string_view help,
                    const MetricLabels& labels, Read read);
  Status AddMemory(MetricsRegistry& metrics);
  Status AddConnections(MetricsRegistry& metrics);
  Status AddDisk(MetricsRegistry& metrics);
  void DescribeDisk(StatusReport* report) const;

  const HostResources resources_;
  const BudgetSizes sizes_;
  const WireMemory memory_;
  const std::shared_ptr<ConnectionSlots> slots_;
  DiskRoom disk_;
  bool has_disk_ = false;
  std::vector<CallbackGauge> series_;
};

}  // namespace neptune
