#include "tools/cluster/offered_replicas.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "neptune/base/strings.h"
#include "tools/cluster/status_page.h"

namespace search::tools {
namespace {

using neptune::DataLoss;
using neptune::Status;
using neptune::StatusOr;

// Cells of a row that names a replica, or null if a column is missing.
const std::string* Cell(const std::map<std::string, std::string>& row, const char* column) {
  const auto found = row.find(column);
  return found == row.end() ? nullptr : &found->second;
}

bool ServesUsers(const neptune::ClusterSpec& spec, const std::string& service) {
  for (const neptune::NodeSpec& node : spec.nodes()) {
    for (const auto& hosted : node.hosts()) {
      if (hosted.service() != service) continue;
      if (neptune::EffectiveParameters(spec, hosted).contains("http_port")) return true;
    }
  }
  return false;
}

}  // namespace

StatusOr<OfferedReplicas> ParseYellowPage(std::string_view text) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<StatusTable> tables,
                           ParseStatusSection(text, "yellow page", "Services"));
  if (tables.size() != 1) return DataLoss("the page has no table of services");
  OfferedReplicas offered;
  for (const auto& row : tables[0].rows) {
    const std::string* const service = Cell(row, "service");
    const std::string* const partition = Cell(row, "partition");
    const std::string* const node = Cell(row, "node");
    const std::string* const implementation = Cell(row, "implementation");
    uint32_t number = 0;
    if (service == nullptr || node == nullptr || implementation == nullptr ||
        partition == nullptr || !absl::SimpleAtoi(*partition, &number)) {
      return DataLoss("the table of services has unexpected columns");
    }
    offered[{*service, number, *node}] = *implementation;
  }
  return offered;
}

std::set<OfferedReplica> HostedReplicas(const neptune::ClusterSpec& spec, const std::string& node) {
  std::set<OfferedReplica> hosted_replicas;
  const neptune::NodeSpec* const found = neptune::FindNode(spec, neptune::NodeId(node));
  if (found == nullptr) return hosted_replicas;
  for (const auto& hosted : found->hosts()) {
    for (const uint32_t p : hosted.partitions()) {
      hosted_replicas.insert({hosted.service(), p, node});
    }
  }
  return hosted_replicas;
}

Status IsDispensable(const neptune::ClusterSpec& spec, const OfferedReplicas& offered,
                     const std::string& node) {
  std::string lost;
  for (const OfferedReplica& own : HostedReplicas(spec, node)) {
    const bool any_partition = ServesUsers(spec, own.service);
    const bool is_elsewhere = std::any_of(offered.begin(), offered.end(), [&](const auto& entry) {
      const OfferedReplica& other = entry.first;
      return other.service == own.service && other.node != node &&
             (any_partition || other.partition == own.partition);
    });
    if (!is_elsewhere) neptune::StrAppend(&lost, " ", own.service, "/", own.partition);
  }
  if (lost.empty()) return neptune::OkStatus();
  return neptune::FailedPrecondition("no other node currently offers all that ", node,
                                     " serves:", lost, "; wait for the others, or --force");
}

}  // namespace search::tools
