#include "tools/cluster/changes_file.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using Json = nlohmann::ordered_json;
using neptune::DataLoss;
using neptune::Status;
using neptune::StatusOr;

constexpr uint32_t kFormatVersion = 1;
constexpr const char* kStages[] = {"waiting", "changing", "changed", "returning", "returned"};

Json HostedJson(const HostedChange& hosted) {
  return {{"node", hosted.node},
          {"service", hosted.service},
          {"module", hosted.module},
          {"parameters", hosted.parameters}};
}

HostedChange HostedOf(const Json& json) {
  HostedChange hosted;
  hosted.node = json.at("node");
  hosted.service = json.at("service");
  hosted.module = json.at("module");
  for (const auto& [key, value] : json.at("parameters").items()) hosted.parameters[key] = value;
  return hosted;
}

Json RollingJson(const RollingChange& change) {
  Json nodes = Json::array();
  for (const RollingNode& node : change.nodes) {
    Json one = {{"node", node.node}, {"stage", kStages[static_cast<int>(node.stage)]}};
    if (node.before) one["before"] = HostedJson(*node.before);
    nodes.push_back(std::move(one));
  }
  Json json = {{"what", change.what},
               {"implementation", change.implementation},
               {"failure", change.failure},
               {"nodes", std::move(nodes)}};
  if (change.change) json["change"] = HostedJson(*change.change);
  return json;
}

StatusOr<NodeStage> StageOf(const std::string& name) {
  const auto* const found = std::find(std::begin(kStages), std::end(kStages), name);
  if (found == std::end(kStages)) return DataLoss("'", name, "' is not a stage of a node");
  return static_cast<NodeStage>(found - std::begin(kStages));
}

StatusOr<RollingChange> RollingOf(const Json& json) {
  RollingChange change;
  change.what = json.at("what");
  change.implementation = json.at("implementation");
  change.failure = json.at("failure");
  if (json.contains("change")) change.change = HostedOf(json.at("change"));
  if (json.at("nodes").size() > kRollingNodeCountMax) return DataLoss("too many nodes");
  std::set<std::string> names;
  for (const Json& one : json.at("nodes")) {
    RollingNode node;
    node.node = one.at("node");
    if (!names.insert(node.node).second) return DataLoss("node '", node.node, "' is listed twice");
    NEPTUNE_ASSIGN_OR_RETURN(node.stage, StageOf(one.at("stage")));
    if (one.contains("before")) node.before = HostedOf(one.at("before"));
    change.nodes.push_back(std::move(node));
  }
  return change;
}

StatusOr<ClusterChanges> ChangesOf(const Json& json) {
  if (json.at("format_version") != kFormatVersion) {
    return DataLoss("format version ", json.at("format_version").dump(), ", known is ",
                    kFormatVersion);
  }
  ClusterChanges changes;
  for (const Json& one : json.at("hosted")) {
    HostedChange hosted = HostedOf(one);
    if (FindHosted(changes, hosted.node, hosted.service) != nullptr) {
      return DataLoss(hosted.service, " on ", hosted.node, " is listed twice");
    }
    changes.hosted.push_back(std::move(hosted));
  }
  if (json.contains("under_way")) {
    NEPTUNE_ASSIGN_OR_RETURN(changes.under_way, RollingOf(json.at("under_way")));
  }
  return changes;
}

neptune::HostedServiceSpec* FindHostedSpec(const HostedChange& change, neptune::ClusterSpec* spec) {
  for (neptune::NodeSpec& node : *spec->mutable_nodes()) {
    if (node.name() != change.node) continue;
    for (auto& hosted : *node.mutable_hosts()) {
      if (hosted.service() == change.service) return &hosted;
    }
  }
  return nullptr;
}

}  // namespace

std::string ChangesJson(const ClusterChanges& changes) {
  Json json = {{"format_version", kFormatVersion}, {"hosted", Json::array()}};
  for (const HostedChange& hosted : changes.hosted) json["hosted"].push_back(HostedJson(hosted));
  if (changes.under_way) json["under_way"] = RollingJson(*changes.under_way);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<ClusterChanges> ParseChanges(std::string_view text) {
  if (text.size() > kChangesSizeMax) return DataLoss("more than ", kChangesSizeMax, " bytes");
  try {
    return ChangesOf(Json::parse(text));
  } catch (const Json::exception& error) {
    return DataLoss(error.what());
  }
}

Status ApplyChanges(const ClusterChanges& changes, neptune::ClusterSpec* spec) {
  for (const HostedChange& change : changes.hosted) {
    neptune::HostedServiceSpec* const hosted = FindHostedSpec(change, spec);
    if (hosted == nullptr) {
      return neptune::FailedPrecondition("a swap decided the implementation of '", change.service,
                                         "' is on node '", change.node,
                                         "', but the spec does not host it there");
    }
    if (!change.module.empty()) hosted->set_module(change.module);
    for (const auto& [key, value] : change.parameters) {
      neptune::SetParameter(key, value, hosted->mutable_parameters());
    }
  }
  return neptune::OkStatus();
}

std::string SpecForNodes(neptune::ClusterSpec spec, const std::string& spec_path) {
  const std::filesystem::path folder = std::filesystem::absolute(spec_path).parent_path();
  const auto absolute = [&](const std::string& path) {
    return path.empty() ? path : (folder / path).lexically_normal().string();
  };
  spec.set_admin_token_file(absolute(spec.admin_token_file()));
  spec.set_capsule_file(absolute(spec.capsule_file()));
  spec.set_cluster_key_file(absolute(spec.cluster_key_file()));
  const auto make_absolute = [&](neptune::NodeTls* tls) {
    tls->set_certificate_file(absolute(tls->certificate_file()));
    tls->set_key_file(absolute(tls->key_file()));
    tls->set_authority_file(absolute(tls->authority_file()));
  };
  if (spec.has_node_tls()) make_absolute(spec.mutable_node_tls());
  if (spec.has_membership()) {
    neptune::MembershipSpec& membership = *spec.mutable_membership();
    membership.set_etcd_password_file(absolute(membership.etcd_password_file()));
    if (membership.has_etcd_tls()) make_absolute(membership.mutable_etcd_tls());
  }
  // A module is a name or a path.
  const auto with_folder = [&](const std::string& module) {
    return module.find('/') == std::string::npos ? module : absolute(module);
  };
  for (neptune::ServiceSpec& service : *spec.mutable_services()) {
    service.set_module(with_folder(service.module()));
  }
  for (neptune::NodeSpec& node : *spec.mutable_nodes()) {
    node.set_capsule_file(absolute(node.capsule_file()));
    for (auto& hosted : *node.mutable_hosts()) hosted.set_module(with_folder(hosted.module()));
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(spec, &text);
  return text;
}

}  // namespace search::tools
