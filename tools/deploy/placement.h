// Which host runs which nodes of a cluster: the host file as read and checked.
//
//   # host    address      nodes
//   alpha     10.1.0.11    web-1 store-1
//   beta      10.1.0.12    web-2 store-2
//
// Text in, a placement that can be trusted out.
// Threads: pure functions.
// Errors: kInvalidArgument "FILE:LINE: reason"; what no line is to blame for, as a node that no
//   host has, "FILE: reason".
// Limits: kHostFileSizeMax bytes; a host's name is a DNS label of 1 to 63 letters, digits and '-'.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"

namespace search::tools {

inline constexpr size_t kHostFileSizeMax = 4 << 20;

struct HostPlace {
  std::string name;
  std::string address;  // IPv4, that of the network between nodes
  std::vector<std::string> nodes;
};

struct Placement {
  std::vector<HostPlace> hosts;  // as in the file
  // The host of each node.
  std::map<std::string, const HostPlace*> HostOfNodes() const;
};

// Each node of the spec is on one host; no two on one host want the same port.
neptune::StatusOr<Placement> ParsePlacement(std::string_view text, std::string_view file,
                                            const neptune::ClusterSpec& spec);

// Lower-case letters, digits and '-', not at its ends; at most `size_max` bytes.
bool IsDnsLabel(std::string_view name, size_t size_max = 63);

// The ports that the node listens on for sure, with what for: "call_port", "admin_port",
// "http_port".
std::vector<std::pair<std::string, uint32_t>> FixedPorts(const neptune::ClusterSpec& spec,
                                                         const neptune::NodeSpec& node);

}  // namespace search::tools
