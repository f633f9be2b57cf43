// What a node is made of: its place in the cluster spec, its modules, and the settings that are not
// in the spec.
//
// Threads: values, copied into the node.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/service/service_module.h"

namespace neptune {

class AdminServer;
class ReplicaPolicy;
struct AggregatorOptions;

struct NodeOptions {
  ClusterSpec spec;  // completed by CompleteClusterSpec
  NodeId name;
  // Folder that relative paths in parameters are resolved against.
  std::string base_directory;
  // The same for the paths of the spec itself: capsule files, token file, keys and certificates.
  std::string spec_directory;
  ModuleFactory modules;
  // Address to bind and to announce. Unset: the spec's interface_address.
  std::optional<uint32_t> address;
  YellowPageOptions yellow_page;
  // Makes the policy by which a loop chooses replicas, instead of the spec's `balancing`; see
  // replica_policy.h. Null: the spec's.
  std::function<std::unique_ptr<ReplicaPolicy>(Loop& loop)> make_replica_policy;
  // Changes the options of the node's aggregations; called once, before they are set up. Null:
  // those of AggregatorOptions.
  std::function<void(AggregatorOptions*)> adjust_aggregations;
  // File for sampled spans, as lines of OTLP JSON. Empty: spans are not written.
  std::string span_log;
  // Serves /metrics and status pages.
  bool with_admin = true;
  // Adds pages that only nodes of one world have; called before the administration starts. Default:
  // none.
  std::function<void(AdminServer&)> add_admin_pages;
  // See ServiceHostOptions.
  bool with_method_statistics = true;
  std::optional<Duration> stall_timeout{};
  // See CapsuleStackOptions::with_default.
  bool with_default_capsule = true;
  // Duration of device calls in the simulated world; see CapsuleStackOptions. Default: zero.
  std::function<Duration(std::string_view path)> device_time;
};

}  // namespace neptune
