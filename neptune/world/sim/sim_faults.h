// Faults of a simulation's hosts and links.
//
//   ScheduleFaults(simulator, {{At(2s), At(5s), {.kind = Fault::Kind::kCrash, .hosts = {"b"}}}});
//
// Threads: the simulation's thread.
// Units: virtual time.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "neptune/world/faults/fault_target.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

// All kinds but those of a node's program (kLeave, kHang).
class SimFaultTarget : public FaultTarget {
 public:
  // The simulator outlives the target.
  explicit SimFaultTarget(Simulator& simulator) : simulator_(simulator) {}

  bool Supports(Fault::Kind kind) const override;
  Status Begin(const Fault& fault) override;
  Status End(const Fault& fault) override;

 private:
  using Key = std::tuple<Fault::Kind, std::set<std::string>, std::set<std::string>>;

  void SetHost(const Fault& fault, bool begins);
  void BeginCut(const Fault& fault);
  void EndCut(const Fault& fault);
  void SetLinks(const Fault& fault, bool begins);

  Simulator& simulator_;
  std::map<Key, LinkModel::CutId> cuts_;
};

// Schedules every fault at its time. REQUIRES: the hosts named exist by then, and the target
// supports every kind.
void ScheduleFaults(Simulator& simulator, const std::shared_ptr<FaultTarget>& target,
                    const FaultSchedule& schedule);
// The same for the hosts and links alone.
void ScheduleFaults(Simulator& simulator, const FaultSchedule& schedule);

}  // namespace neptune
