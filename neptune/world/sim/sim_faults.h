// Faults of a simulation's hosts and links, and how many of them took effect.
//
//   ScheduleFaults(simulator, {{At(2s), At(5s), {.kind = Fault::Kind::kCrash, .hosts = {"b"}}}});
//
// Threads: the simulation's thread.
// Units: virtual time.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "neptune/world/faults/fault_counts.h"
#include "neptune/world/faults/fault_target.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

// The loop that kHungLoop is for, where a host has it.
inline constexpr char kHangingLoop[] = "serve-0";

// All kinds but those that need the node's program or a process. kCrashInFlush is a loss of power;
// kDescriptorLimit also starts the process again when it begins, because one that has its files
// open needs no more.
class SimFaultTarget : public FaultTarget {
 public:
  // The simulator outlives the target. Bits that flip are drawn from its seed.
  explicit SimFaultTarget(Simulator& simulator);

  bool Supports(Fault::Kind kind) const override;
  Status Begin(const Fault& fault) override;
  Status End(const Fault& fault) override;
  // Faults that have not ended count as begun only.
  const FaultCounts& counts() const { return counts_; }

 private:
  using Key = std::tuple<Fault::Kind, std::set<std::string>, std::set<std::string>>;

  void Set(const Fault& fault, bool begins);
  void SetHost(const Fault& fault, bool begins);
  void SetStorage(const Fault& fault, bool begins);
  void BeginCrashInFlush(const std::string& host);
  void EndDown(const std::string& host);
  // A number that grows with what the fault does.
  uint64_t Measure(const Fault& fault);
  uint64_t MeasureHost(const Fault& fault);
  uint64_t MeasureLinks(Fault::Kind kind);
  void BeginCut(const Fault& fault);
  void EndCut(const Fault& fault);
  void SetLinks(const Fault& fault, bool begins);

  Simulator& simulator_;
  RandomSource random_;
  std::map<Key, LinkModel::CutId> cuts_;
  std::map<Key, uint64_t> before_;  // what was measured when they began
  uint64_t done_count_ = 0;         // crashes and flips
  FaultCounts counts_;
};

// Schedules every fault at its time. REQUIRES: the hosts named exist by then, and the target
// supports every kind.
void ScheduleFaults(Simulator& simulator, const std::shared_ptr<FaultTarget>& target,
                    const FaultSchedule& schedule);
// The same for the hosts and links alone.
void ScheduleFaults(Simulator& simulator, const FaultSchedule& schedule);

}  // namespace neptune
