// Faults of the nodes of a simulated cluster: those of its hosts and links, and nodes that leave
// gracefully or hang.
//
// Threads: the simulation's thread.

#pragma once

#include <string>

#include "neptune/testing/simulated_cluster.h"
#include "neptune/world/sim/sim_faults.h"
#include "tests/chaos/chaos_modules.h"

namespace neptune::chaos {

class ClusterFaults final : public FaultTarget {
 public:
  // Both outlive the target.
  ClusterFaults(SimulatedCluster& cluster, ChaosState& state)
      : cluster_(cluster), state_(state), hosts_(cluster.simulator()) {}

  // The nodes keep no data in storage, so faults of disks would show nothing.
  bool Supports(Fault::Kind kind) const override {
    return TraitsOf(kind).needs == FaultNeeds::kHost || kind == Fault::Kind::kLeave ||
           kind == Fault::Kind::kHang;
  }
  Status Begin(const Fault& fault) override;
  Status End(const Fault& fault) override;

 private:
  void Leave(const std::string& node);
  // The node's process is gone, and with it the calls that it made and served.
  void Abandon(const std::string& node) { state_.calls.Abandon(node, cluster_.simulator().now()); }

  SimulatedCluster& cluster_;
  ChaosState& state_;
  SimFaultTarget hosts_;
};

}  // namespace neptune::chaos
