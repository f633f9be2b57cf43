// Assignment of a cluster's nodes to hosts, parsed from the host file and validated.
//
//   # host    address      nodes
//   alpha     10.1.0.11    web-1 store-1
//   beta      10.1.0.12    web-2 store-2
//
// Threads: pure functions.
// Errors: kInvalidArgument "FILE:LINE: reason"; "FILE: reason" for errors without a line, such as a
//   node without a host.
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
  std::string address;  // IPv4, on the network between nodes
  std::vector<std::string> nodes;
};

struct Placement {
  std::vector<HostPlace> hosts;  // in file order
  // Maps each node to its host.
  std::map<std::string, const HostPlace*> HostOfNodes() const;
};

// Parses the host file. Guarantees that each node of the spec is on one host and that no two nodes
// of a host use the same port.
neptune::StatusOr<Placement> ParsePlacement(std::string_view text, std::string_view file,
                                            const neptune::ClusterSpec& spec);

// True for lower-case letters, digits and '-', the latter not at either end; at most `size_max`
// bytes.
bool IsDnsLabel(std::string_view name, size_t size_max = 63);

// The node's fixed listening ports with their names: "call_port", "control_port", "admin_port",
// "http_port".
std::vector<std::pair<std::string, uint32_t>> FixedPorts(const neptune::ClusterSpec& spec,
                                                         const neptune::NodeSpec& node);

}  // namespace search::tools
