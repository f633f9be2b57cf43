#include "tools/cluster/offered_replicas.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::DataLoss;
using neptune::Status;
using neptune::StatusOr;
using nlohmann::json;

constexpr const char* kColumns[] = {"service", "partition", "node", "implementation"};

StatusOr<OfferedReplicas> ReplicasOf(const json& table) {
  if (table.at("columns") != json(kColumns)) return DataLoss("the table has unexpected columns");
  if (table.at("rows_left_out") != 0) return DataLoss("the page does not show all replicas");
  OfferedReplicas offered;
  for (const json& row : table.at("rows")) {
    offered[{row.at(0), row.at(1), row.at(2)}] = row.at(3);
  }
  return offered;
}

StatusOr<OfferedReplicas> Find(const json& page) {
  for (const json& section : page.at("sections")) {
    if (section.at("name") != "yellow page") continue;
    for (const json& table : section.at("tables")) {
      if (table.at("title") == "Services") return ReplicasOf(table);
    }
  }
  return DataLoss("the page has no yellow page section");
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
  try {
    return Find(json::parse(text));
  } catch (const json::exception& error) {
    return DataLoss("no status page: ", error.what());
  }
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
