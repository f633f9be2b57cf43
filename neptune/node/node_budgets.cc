#include "neptune/node/node_budgets.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/replication/agent/replica_links.h"
#include "neptune/wire/server_connection.h"

namespace neptune {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr uint64_t kMemoryShare = 4;  // of the memory, as a divisor
// Memory of the machine for each connection: an idle one takes 2 KiB here and a few in the system,
// an eighth of this, and one with a small request and a small answer unread a quarter.
constexpr uint64_t kMemoryPerConnection = 128 * 1024;

// Descriptors of loops, listeners, administration, logs, and files of modules.
constexpr size_t kDescriptorsOfNode = 64;
constexpr size_t kDescriptorsPerLoop = 4 + kServerSpareDescriptorCount;
// A partition's stores have files of their own; a dozen were counted.
constexpr size_t kDescriptorsPerReplica = 16;

size_t ReplicaCountOf(const ClusterSpec& cluster, const NodeSpec& node) {
  size_t count = 0;
  for (const HostedServiceSpec& hosted : node.hosts()) {
    const ServiceSpec* const service = FindService(cluster, hosted.service());
    if (service != nullptr && service->has_replication()) {
      count += static_cast<size_t>(hosted.partitions_size());
    }
  }
  for (const ServiceSpec& service : cluster.services()) {
    if (service.replication().witness() == node.name()) count += service.partition_count();
  }
  return count;
}

// What the node opens on its own account, as far as it is known beforehand.
size_t DescriptorNeedOf(const ClusterSpec& cluster, const NodeSpec& node) {
  const size_t loop_count = node.serving_threads() + node.worker_threads() + 1;
  const size_t call_count = loop_count * static_cast<size_t>(cluster.nodes_size());
  return kDescriptorsOfNode + kDescriptorsPerLoop * loop_count + call_count +
         kDescriptorsPerReplica * ReplicaCountOf(cluster, node);
}

// Unauthenticated connections of a loop, if there are descriptors for them.
constexpr size_t kHandshakesPerLoop = 1024;

WireMemory MakeMemory(size_t size) {
  WireMemory memory;
  memory.budget = std::make_shared<MemoryBudget>(size);
  memory.is_control = [](const RequestHeader& header) {
    return header.service.value() == kReplicationService;
  };
  return memory;
}

}  // namespace

BudgetSizes BudgetSizesOf(const ClusterSpec& cluster, const NodeSpec& node,
                          const HostResources& resources) {
  BudgetSizes sizes;
  const size_t memory = static_cast<size_t>(resources.memory_size / kMemoryShare);
  sizes.memory = node.memory_budget_mib() != 0 ? node.memory_budget_mib() * kMiB
                                               : std::max(memory, kMemoryBudgetMibMin * kMiB);
  sizes.reserved_descriptors =
      std::min(DescriptorNeedOf(cluster, node), resources.descriptor_limit / 2);
  size_t left = resources.descriptor_limit - sizes.reserved_descriptors;
  // The limit of the others is eight times as large, see ConnectionSlots.
  const size_t borrowed = std::min(left / 9, ConnectionSlots::kBorrowedCountMax);
  sizes.reserved_descriptors += borrowed;
  left = std::min<size_t>(left - borrowed, resources.memory_size / kMemoryPerConnection);
  if (!cluster.cluster_key_file().empty() || cluster.has_node_tls()) {
    const size_t loop_count = node.serving_threads();
    sizes.handshakes = std::clamp<size_t>(left / 4 / loop_count, 1, kHandshakesPerLoop);
    left -= std::min(left / 2, sizes.handshakes * loop_count);
  }
  sizes.connections =
      node.connection_count_max() == 0 ? left : std::min<size_t>(left, node.connection_count_max());
  sizes.disk_reserve = uint64_t{node.disk_reserve_mib()} * kMiB;
  return sizes;
}

NodeBudgets::NodeBudgets(const ClusterSpec& cluster, const NodeSpec& node,
                         const HostResources& resources)
    : resources_(resources),
      sizes_(BudgetSizesOf(cluster, node, resources)),
      memory_(MakeMemory(sizes_.memory)),
      slots_(std::make_shared<ConnectionSlots>(sizes_.connections)),
      disk_(sizes_.disk_reserve) {}

Status NodeBudgets::AddGauge(MetricsRegistry& metrics, std::string_view name, std::string_view help,
                             const MetricLabels& labels, Read read) {
  NEPTUNE_ASSIGN_OR_RETURN(CallbackGauge gauge,
                           metrics.AddCallbackGauge(name, help, labels, std::move(read)));
  series_.push_back(std::move(gauge));
  return OkStatus();
}

Status NodeBudgets::AddCounter(MetricsRegistry& metrics, std::string_view name,
                               std::string_view help, const MetricLabels& labels, Read read) {
  NEPTUNE_ASSIGN_OR_RETURN(CallbackGauge counter,
                           metrics.AddCallbackCounter(name, help, labels, std::move(read)));
  series_.push_back(std::move(counter));
  return OkStatus();
}

Status NodeBudgets::AddMemory(MetricsRegistry& metrics) {
  const MemoryBudget* const budget = memory_.budget.get();
  NEPTUNE_RETURN_IF_ERROR(AddGauge(metrics, "neptune_memory_budget_bytes",
                                   "Bytes that the node may buffer.", {},
                                   [budget] { return budget->size(); }));
  for (size_t i = 0; i < kMemoryUseCount; ++i) {
    const auto use = static_cast<MemoryUse>(i);
    const MetricLabels labels = {{"purpose", std::string(NameOf(use))}};
    NEPTUNE_RETURN_IF_ERROR(AddGauge(metrics, "neptune_memory_used_bytes",
                                     "Bytes buffered, by what for.", labels,
                                     [budget, use] { return budget->used(use); }));
    NEPTUNE_RETURN_IF_ERROR(
        AddCounter(metrics, "neptune_memory_refusals_total",
                   "Requests, answers and streams refused because memory was short, by purpose.",
                   labels, [budget, use] { return budget->refusals(use); }));
  }
  return OkStatus();
}

Status NodeBudgets::AddConnections(MetricsRegistry& metrics) {
  const ConnectionSlots* const slots = slots_.get();
  NEPTUNE_RETURN_IF_ERROR(AddGauge(metrics, "neptune_connection_limit",
                                   "Connections that the node accepts.", {},
                                   [slots] { return slots->limit(); }));
  NEPTUNE_RETURN_IF_ERROR(AddGauge(metrics, "neptune_connections_open",
                                   "Accepted connections that are open.", {},
                                   [slots] { return slots->used(); }));
  NEPTUNE_RETURN_IF_ERROR(AddCounter(metrics, "neptune_connections_evicted_total",
                                     "Idle connections closed in favour of new ones.", {},
                                     [slots] { return slots->evicted_count(); }));
  return AddCounter(metrics, "neptune_connections_turned_away_total",
                    "Connections closed at once because the node had no place for them.", {},
                    [slots] { return slots->refused_count(); });
}

Status NodeBudgets::AddDisk(MetricsRegistry& metrics) {
  NEPTUNE_RETURN_IF_ERROR(AddGauge(metrics, "neptune_disk_free_bytes",
                                   "Free space of the disk that holds the node's data.", {},
                                   [this] { return disk_.free(); }));
  NEPTUNE_RETURN_IF_ERROR(AddGauge(metrics, "neptune_disk_reserve_bytes",
                                   "Free space below which writes are refused.", {},
                                   [this] { return disk_.reserve(); }));
  return AddCounter(metrics, "neptune_disk_refused_writes_total",
                    "Replicated writes refused because the disk was almost full.", {},
                    [this] { return disk_.refused_count(); });
}

Status NodeBudgets::AddTo(MetricsRegistry& metrics, bool with_disk) {
  NEPTUNE_RETURN_IF_ERROR(AddMemory(metrics));
  NEPTUNE_RETURN_IF_ERROR(AddConnections(metrics));
  has_disk_ = with_disk;
  return with_disk ? AddDisk(metrics) : OkStatus();
}

void NodeBudgets::Describe(StatusReport* report) const {
  const MemoryBudget& memory = *memory_.budget;
  report->AddFact("memory budget", memory.size());
  report->AddFact("memory used", memory.used());
  report->AddFact("largest request that is accepted now",
                  memory.LargestCharge(MemoryRank::kOrdinary));
  report->AddFact("descriptor limit", resources_.descriptor_limit);
  report->AddFact("descriptors reserved", sizes_.reserved_descriptors);
  report->AddFact("connection limit", slots_->limit());
  report->AddFact("connections", slots_->used());
  report->AddFact("connections refused", slots_->refused_count());
  report->AddFact("idle connections closed for others", slots_->evicted_count());
  if (has_disk_) DescribeDisk(report);
  StatusTable uses{"Memory", {"purpose", "bytes", "refused"}, {}};
  for (size_t i = 0; i < kMemoryUseCount; ++i) {
    const auto use = static_cast<MemoryUse>(i);
    uses.AddRow(NameOf(use), memory.used(use), memory.refusals(use));
  }
  report->tables.push_back(std::move(uses));
}

void NodeBudgets::DescribeDisk(StatusReport* report) const {
  // An unbounded disk has more than a cell can show.
  const auto shown = [](uint64_t size) { return std::min<uint64_t>(size, INT64_MAX); };
  report->AddFact("disk", NameOf(disk_.level()));
  report->AddFact("disk free", shown(disk_.free()));
  report->AddFact("disk reserve", shown(disk_.reserve()));
  report->AddFact("writes refused", disk_.refused_count());
}

std::optional<std::string> NodeBudgets::WhyNotReady() const {
  if (disk_.level() < DiskRoom::Level::kFull) return std::nullopt;
  return StrCat("the disk is almost full: ", disk_.free(), " bytes are free; writes are refused");
}

}  // namespace neptune
