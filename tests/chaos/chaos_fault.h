// What goes wrong in a chaos run, from when to when: faults of the world, nodes that leave and come
// back, nodes whose workers hang. Drawn from a seed; a minimal failing run is a short list of
// these.
//
// Threads: immutable values and pure functions.
// Limits: no two of crash, pause, leave and hang touch one node within kComeBackMax of each other.

#pragma once

#include <string>
#include <vector>

#include "neptune/world/sim/fault_plan.h"

namespace neptune::chaos {

inline constexpr Duration kComeBackMax = std::chrono::seconds(1);

struct ChaosFault {
  enum class Kind {
    kFault,
    kLeave,  // the node of `span.fault.hosts` stops gracefully, and starts again at the end
    kHang,   // its long requests stand still until the end
  };
  Kind kind = Kind::kFault;
  FaultSpan span;

  const std::string& node() const { return *span.fault.hosts.begin(); }
  std::string ToString() const;
};

struct ChaosFaultOptions {
  std::vector<std::string> nodes;    // that may be hit
  std::vector<std::string> servers;  // of these, the ones that may hang
  TimePoint begin;
  TimePoint end;  // all chaos_faults are over
};

// Every seed has kinds, a density and durations of its own: quiet runs show what a single fault
// does, wild ones what many do together.
std::vector<ChaosFault> DrawChaosFaults(RandomSource& random, const ChaosFaultOptions& options);

std::string ToString(const std::vector<ChaosFault>& chaos_faults);

}  // namespace neptune::chaos
