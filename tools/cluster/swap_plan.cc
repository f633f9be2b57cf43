#include "tools/cluster/swap_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

std::vector<std::string> HostsOf(const neptune::ClusterSpec& spec, const std::string& service) {
  std::vector<std::string> nodes;
  for (const neptune::NodeSpec& node : spec.nodes()) {
    for (const auto& hosted : node.hosts()) {
      if (hosted.service() == service) nodes.push_back(node.name());
    }
  }
  return nodes;
}

Status AddParameter(const std::string& text, HostedChange* change) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return InvalidArgument("'", text, "' is not KEY=VALUE");
  }
  change->parameters[text.substr(0, equals)] = text.substr(equals + 1);
  return neptune::OkStatus();
}

std::optional<std::string> PathOf(const neptune::ServiceSpec& service) {
  for (const neptune::Parameter& parameter : service.parameters()) {
    if (parameter.key() == "path") return parameter.value();
  }
  return std::nullopt;
}

// The folder of the same part of the index that was built for the implementation: "tier1",
// "tier1.rocksdb_postings".
StatusOr<std::string> FolderFor(const std::string& path, const std::string& implementation,
                                const std::vector<ManifestPart>& parts) {
  const std::string part_name = path.substr(0, path.find('.'));
  std::string known;
  for (const ManifestPart& part : parts) {
    if (part.name != part_name && !part.name.starts_with(part_name + ".")) continue;
    if (part.implementation == implementation) return part.name;
    neptune::StrAppend(&known, known.empty() ? "" : ", ", part.implementation);
  }
  return neptune::NotFound("the index has no '", part_name, "' for '", implementation,
                           "', only for: ", known.empty() ? "nothing" : known,
                           "; tools/build_index builds others (--index_tiers, --document_stores)");
}

}  // namespace

StatusOr<SwapOrder> ParseSwap(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    return InvalidArgument("'", text, "' is not SERVICE=MODULE or SERVICE=IMPLEMENTATION");
  }
  SwapOrder order;
  order.service = text.substr(0, equals);
  order.to = text.substr(equals + 1);
  return order;
}

StatusOr<RollingChange> PlanSwap(const neptune::ClusterSpec& spec, const SwapOrder& order,
                                 const std::vector<ManifestPart>& parts) {
  const neptune::ServiceSpec* const service = neptune::FindService(spec, order.service);
  if (service == nullptr) {
    return InvalidArgument("the cluster has no service '", order.service, "'");
  }
  RollingChange change;
  change.what = StrCat("swap ", order.service, "=", order.to);
  change.change.emplace().service = order.service;
  if (order.is_module) {
    change.change->module = order.to;
  } else if (!order.to.empty()) {
    change.implementation = order.to;
    change.change->parameters["implementation"] = order.to;
    if (const auto path = PathOf(*service); path && !parts.empty()) {
      NEPTUNE_ASSIGN_OR_RETURN(change.change->parameters["path"],
                               FolderFor(*path, order.to, parts));
    }
  }
  for (const std::string& parameter : order.parameters) {
    NEPTUNE_RETURN_IF_ERROR(AddParameter(parameter, &*change.change));
  }
  const std::vector<std::string> hosts = HostsOf(spec, order.service);
  for (const std::string& node : order.nodes.empty() ? hosts : order.nodes) {
    if (std::find(hosts.begin(), hosts.end(), node) == hosts.end()) {
      return InvalidArgument("node '", node, "' does not host '", order.service, "'");
    }
    change.nodes.push_back({node});
  }
  return change;
}

}  // namespace search::tools
