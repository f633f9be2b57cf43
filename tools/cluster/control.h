// Controls a running cluster from another terminal: status, kill, pause, resume.
//
// Threads: one.
// Errors: NOT_FOUND the cluster or the node is not running; INVALID_ARGUMENT no such node in the
//   spec.

#pragma once

#include <string>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"
#include "tools/cluster/rolling_change.h"
#include "tools/cluster/state_directory.h"

namespace search::tools {

// A table of the nodes: process, state, endpoints, what they host.
neptune::StatusOr<std::string> DescribeCluster(const neptune::ClusterSpec& spec,
                                               const StateDirectory& state);

// Decided changes, unfinished changes and drained nodes, one line each after an empty line; "" if
// there are none.
std::string DescribeChanges(const neptune::ClusterSpec& spec, const ClusterChanges& changes,
                            const StateDirectory& state);

// Sends a signal to the node's process.
neptune::Status SignalNode(const neptune::ClusterSpec& spec, const StateDirectory& state,
                           const std::string& node, int signal);

}  // namespace search::tools
