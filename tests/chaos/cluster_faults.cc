#include "tests/chaos/cluster_faults.h"

namespace neptune::chaos {
namespace {

using Kind = Fault::Kind;

constexpr Duration kLeaveGrace = std::chrono::milliseconds(500);

}  // namespace

Status ClusterFaults::Begin(const Fault& fault) {
  switch (fault.kind) {
    case Kind::kLeave:
      Leave(*fault.hosts.begin());
      return OkStatus();
    case Kind::kHang:
      state_.hanging.insert(*fault.hosts.begin());
      return OkStatus();
    case Kind::kCrash:
      Abandon(*fault.hosts.begin());
      return hosts_.Begin(fault);
    default:
      return hosts_.Begin(fault);
  }
}

Status ClusterFaults::End(const Fault& fault) {
  switch (fault.kind) {
    case Kind::kLeave:
      Abandon(*fault.hosts.begin());
      cluster_.simulator().Restart(*fault.hosts.begin());
      return OkStatus();
    case Kind::kHang:
      state_.hanging.erase(*fault.hosts.begin());
      return OkStatus();
    default:
      return hosts_.End(fault);
  }
}

// The process ends when the node has stopped.
void ClusterFaults::Leave(const std::string& node) {
  cluster_.node(node).Stop(kLeaveGrace, [this, node] {
    Simulator& simulator = cluster_.simulator();
    simulator.At(simulator.now(), [this, node] {
      Abandon(node);
      cluster_.simulator().Crash(node, CrashKind::kProcess);
    });
  });
}

}  // namespace neptune::chaos
