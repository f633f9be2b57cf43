#include "neptune/node/replication_spec.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint32_t kStalenessMillisMax = 3'600'000;
constexpr uint32_t kScrubHoursMax = 24 * 366;
constexpr uint32_t kSecondsPerHour = 3600;
constexpr uint32_t kLogMibMax = 1024;  // a member with a new disk receives the whole log

StatusOr<ConsistencyLevel> ParseLevel(const std::string& level) {
  if (level == "write_anywhere") return ConsistencyLevel::kWriteAnywhere;
  if (level == "ordered_writes") return ConsistencyLevel::kOrderedWrites;
  if (level == "staleness_bounded") return ConsistencyLevel::kStalenessBounded;
  return InvalidArgument("level '", level,
                         "' is not one of write_anywhere, ordered_writes, staleness_bounded");
}

StatusOr<ReplicationMode> ParseMode(const std::string& mode) {
  if (mode.empty() || mode == "safe") return ReplicationMode::kSafe;
  if (mode == "fail_stop") return ReplicationMode::kFailStop;
  return InvalidArgument("mode '", mode, "' is neither safe nor fail_stop");
}

Status CheckWriteAnywhere(const ReplicationSpec& replication) {
  if (!replication.witness().empty()) {
    return InvalidArgument("a witness votes for primaries; level write_anywhere has none");
  }
  if (!replication.mode().empty()) {
    return InvalidArgument("mode selects the election of primaries; level write_anywhere has none");
  }
  return OkStatus();
}

Status CheckNumbers(const ReplicationSpec& replication) {
  const struct {
    const char* name;
    uint32_t value;
    uint32_t max;
  } limits[] = {
      {"staleness_ms", replication.staleness_ms(), kStalenessMillisMax},
      {"log_size_max_mib", replication.log_size_max_mib(), kLogMibMax},
      {"scrub_hours", replication.scrub_hours(), kScrubHoursMax},
      {"scrub_seconds", replication.scrub_seconds(), kScrubHoursMax * kSecondsPerHour},
  };
  for (const auto& limit : limits) {
    if (limit.value <= limit.max) continue;
    return InvalidArgument(limit.name, " is ", limit.value, "; at most ", limit.max);
  }
  if (replication.has_scrub_seconds() && replication.has_scrub_hours()) {
    return InvalidArgument("scrub_seconds takes the place of scrub_hours");
  }
  if (replication.has_scrub_seconds() && replication.scrub_seconds() == 0) {
    return InvalidArgument("scrub_seconds is 0; scrub_hours: 0 ends the checks");
  }
  return OkStatus();
}

bool Hosts(const NodeSpec& node, const ServiceSpec& service, PartitionId partition) {
  for (const HostedServiceSpec& hosted : node.hosts()) {
    if (hosted.service() != service.name()) continue;
    const auto& held = hosted.partitions();
    return std::find(held.begin(), held.end(), partition.value()) != held.end();
  }
  return false;
}

}  // namespace

std::vector<ReplicaMember> MembersOf(const ClusterSpec& spec, const ServiceSpec& service,
                                     PartitionId partition) {
  std::vector<ReplicaMember> members;
  for (const NodeSpec& node : spec.nodes()) {
    if (Hosts(node, service, partition)) members.push_back({NodeId(node.name())});
  }
  if (members.empty()) return members;
  std::rotate(members.begin(), members.begin() + partition.value() % members.size(), members.end());
  const NodeId witness(service.replication().witness());
  const bool is_replica = std::any_of(members.begin(), members.end(),
                                      [&](const ReplicaMember& m) { return m.node == witness; });
  if (!witness.value().empty() && members.size() % 2 == 0 && !is_replica) {
    members.push_back({.node = witness, .is_witness = true});
  }
  return members;
}

Status CheckReplication(const ClusterSpec& spec, const ServiceSpec& service) {
  if (!service.has_replication()) return OkStatus();
  const ReplicationSpec& replication = service.replication();
  NEPTUNE_ASSIGN_OR_RETURN(const ConsistencyLevel level, ParseLevel(replication.level()));
  NEPTUNE_ASSIGN_OR_RETURN(const ReplicationMode mode, ParseMode(replication.mode()));
  if (level == ConsistencyLevel::kWriteAnywhere) {
    NEPTUNE_RETURN_IF_ERROR(CheckWriteAnywhere(replication));
  }
  if (mode == ReplicationMode::kFailStop && !replication.witness().empty()) {
    return InvalidArgument("a witness requires mode safe");
  }
  if (replication.staleness_ms() != 0 && level != ConsistencyLevel::kStalenessBounded) {
    return InvalidArgument("staleness_ms requires level staleness_bounded");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckNumbers(replication));
  const auto is_witness = [&](const NodeSpec& node) {
    return node.name() == replication.witness();
  };
  if (!replication.witness().empty() &&
      std::none_of(spec.nodes().begin(), spec.nodes().end(), is_witness)) {
    return InvalidArgument("witness '", replication.witness(), "' is not a node of the cluster");
  }
  for (uint32_t p = 0; p < service.partition_count(); ++p) {
    const size_t count = MembersOf(spec, service, PartitionId(p)).size();
    if (count == 0) return InvalidArgument("no node hosts partition ", p);
    if (count > static_cast<size_t>(kMemberCountMax)) {
      return InvalidArgument("partition ", p, " has ", count, " replicas; at most ",
                             kMemberCountMax);
    }
  }
  return OkStatus();
}

ReplicationOptions ReplicationOptionsOf(const ClusterSpec& spec, const ServiceSpec& service) {
  ReplicationOptions options;
  options.members = [&spec, &service](PartitionId p) { return MembersOf(spec, service, p); };
  options.partition_count = service.partition_count();
  options.level = *ParseLevel(service.replication().level());
  options.mode = *ParseMode(service.replication().mode());
  if (service.replication().staleness_ms() != 0) {
    options.staleness_max = std::chrono::milliseconds(service.replication().staleness_ms());
  }
  if (service.replication().log_entries_kept() != 0) {
    options.log_entries_kept = service.replication().log_entries_kept();
  }
  if (service.replication().log_size_max_mib() != 0) {
    options.log_size_max = size_t{service.replication().log_size_max_mib()} << 20;
  }
  if (service.replication().has_scrub_hours()) {
    options.scrub_interval = std::chrono::hours(service.replication().scrub_hours());
  }
  if (service.replication().has_scrub_seconds()) {
    options.scrub_interval = std::chrono::seconds(service.replication().scrub_seconds());
  }
  return options;
}

bool KeepsReplicas(const ClusterSpec& spec, const NodeId& node) {
  for (const ServiceSpec& service : spec.services()) {
    if (!service.has_replication()) continue;
    for (uint32_t p = 0; p < service.partition_count(); ++p) {
      const std::vector<ReplicaMember> members = MembersOf(spec, service, PartitionId(p));
      const auto is_node = [&](const ReplicaMember& member) { return member.node == node; };
      if (std::any_of(members.begin(), members.end(), is_node)) return true;
    }
  }
  return false;
}

std::vector<std::pair<ServiceName, PartitionId>> WitnessedBy(const ClusterSpec& spec,
                                                             const NodeId& node) {
  std::vector<std::pair<ServiceName, PartitionId>> witnessed;
  for (const ServiceSpec& service : spec.services()) {
    if (!service.has_replication() || service.replication().witness() != node.value()) continue;
    for (uint32_t p = 0; p < service.partition_count(); ++p) {
      const std::vector<ReplicaMember> members = MembersOf(spec, service, PartitionId(p));
      if (!members.empty() && members.back().is_witness) {
        witnessed.emplace_back(ServiceName(service.name()), PartitionId(p));
      }
    }
  }
  return witnessed;
}

}  // namespace neptune
