// Which replicas a node would call: its yellow page, read from its status page.
//
// Threads: pure functions.
// Errors: DATA_LOSS text that is not such a page, or a page that omits rows.

#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"

namespace search::tools {

struct OfferedReplica {
  std::string service;
  uint32_t partition = 0;
  std::string node;
  friend auto operator<=>(const OfferedReplica&, const OfferedReplica&) = default;
};

// With the implementation that each announces.
using OfferedReplicas = std::map<OfferedReplica, std::string>;

inline constexpr char kYellowPagePath[] = "/statusz?section=yellow%20page&format=json";

neptune::StatusOr<OfferedReplicas> ParseYellowPage(std::string_view json);

// The services that the node hosts according to the spec.
std::set<OfferedReplica> HostedReplicas(const neptune::ClusterSpec& spec, const std::string& node);

// OK if other nodes offer every partition that the node hosts. For a service with a port for users,
// which other services do not call, any other of its nodes suffices. Errors: FAILED_PRECONDITION
// names what would be lost.
neptune::Status IsDispensable(const neptune::ClusterSpec& spec, const OfferedReplicas& offered,
                              const std::string& node);

}  // namespace search::tools
