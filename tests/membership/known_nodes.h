// What nodes of a simulated cluster have heard of each other.

#pragma once

#include <set>
#include <string>

#include "neptune/testing/simulated_cluster.h"

namespace neptune {

// Runs until each of them knows exactly these; false if that takes longer.
inline bool AllKnow(SimulatedCluster& cluster, const std::set<std::string>& expected,
                    Duration limit) {
  Simulator& simulator = cluster.simulator();
  return simulator.RunUntilTrue(
      [&] {
        for (const std::string& name : expected) {
          if (cluster.KnownNodes(name) != expected) return false;
        }
        return true;
      },
      simulator.now() + limit);
}

}  // namespace neptune
