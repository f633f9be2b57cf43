#include "neptune/node/caller_policy.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/replication/agent/replication_services.h"

namespace neptune {
namespace {

bool Hosts(const NodeSpec& node, std::string_view service) {
  return std::any_of(node.hosts().begin(), node.hosts().end(),
                     [&](const HostedServiceSpec& hosted) { return hosted.service() == service; });
}

bool MayCall(const NodeSpec& node, const ServiceSpec& service) {
  return Hosts(node, service.name()) ||
         std::any_of(service.callers().begin(), service.callers().end(),
                     [&](const std::string& caller) { return Hosts(node, caller); });
}

using Partitions = std::set<std::pair<std::string, uint32_t>>;

// The replicated partitions that the node keeps or witnesses.
Partitions ReplicatedOn(const ClusterSpec& spec, const NodeSpec& node) {
  Partitions partitions;
  for (const HostedServiceSpec& hosted : node.hosts()) {
    if (!FindService(spec, hosted.service())->has_replication()) continue;
    for (const uint32_t partition : hosted.partitions()) {
      partitions.emplace(hosted.service(), partition);
    }
  }
  for (const ServiceSpec& service : spec.services()) {
    if (!service.has_replication() || service.replication().witness() != node.name()) continue;
    for (uint32_t partition = 0; partition < service.partition_count(); ++partition) {
      partitions.emplace(service.name(), partition);
    }
  }
  return partitions;
}

bool HaveOneInCommon(const Partitions& a, const Partitions& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& one) { return b.contains(one); });
}

}  // namespace

CallerPolicy::CallerPolicy(const ClusterSpec& spec, const NodeId& self) : self_(self.value()) {
  for (const ServiceSpec& service : spec.services()) {
    if (service.callers().empty()) continue;
    auto& callers = callers_[service.name()];
    for (const NodeSpec& node : spec.nodes()) {
      if (MayCall(node, service)) callers.insert(node.name());
    }
  }
  auto& peers = callers_[kReplicationService];
  const NodeSpec* const own = FindNode(spec, self);
  if (own != nullptr) {
    const Partitions here = ReplicatedOn(spec, *own);
    for (const NodeSpec& node : spec.nodes()) {
      if (HaveOneInCommon(here, ReplicatedOn(spec, node))) peers.insert(node.name());
    }
  }
  callers_[kSnapshotService] = peers;
}

Status CallerPolicy::Check(std::string_view caller, std::string_view service) const {
  const auto found = callers_.find(service);
  if (found == callers_.end() || found->second.contains(caller)) return OkStatus();
  return absl::PermissionDeniedError(StrCat("node '", caller, "' may not call service ", service,
                                            " on node ", self_, "; see callers in the spec"));
}

}  // namespace neptune
