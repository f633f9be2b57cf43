// Cluster name and multicast group of nodes that a tool or an experiment starts.
//
// Threads: a pure function.

#pragma once

#include "neptune/base/unique_port.h"
#include "neptune/node/node.h"

namespace search::lab {

// Sets a cluster name and a multicast group that are unique on this machine while the port lives.
void SetOwnGroup(const neptune::UniquePort& port, neptune::ClusterSpec* spec);

}  // namespace search::lab
