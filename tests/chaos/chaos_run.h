// One run of a simulated cluster under faults and load, with every checker on it.
//
// Threads: none but the caller's.
// Limits: kFaultsEnd plus ten seconds of virtual time.

#pragma once

#include <optional>
#include <string>

#include "neptune/world/faults/fault.h"
#include "tests/chaos/planted_bug.h"

namespace neptune::chaos {

inline constexpr TimePoint kFaultsEnd = TimePoint(std::chrono::seconds(20));

// The first violation of a check; it ends the run.
struct Violation {
  std::string check;
  TimePoint at;
  std::string what;

  std::string ToString() const;
};

struct Outcome {
  std::optional<Violation> violation;
  size_t call_count = 0;
  size_t failed_count = 0;
  // How often a check applied: calls that had to succeed, and pairs of nodes that had to know each
  // other, to offer what the other serves, or to have forgotten it.
  size_t must_succeed_count = 0;
  size_t must_know_count = 0;
  size_t must_offer_count = 0;
  size_t must_forget_count = 0;
  uint64_t event_count = 0;
  uint64_t trace_hash = 0;
};

// Draws the faults of a seed.
FaultSchedule FaultsOf(uint64_t seed);

// `seed` decides everything but the faults.
Outcome RunChaos(uint64_t seed, const FaultSchedule& schedule, PlantedBug bug = PlantedBug::kNone);

// Returns the shortest part found of the schedule that violates the same check as all of it does.
FaultSchedule Minimise(uint64_t seed, const FaultSchedule& schedule, const Violation& violation,
                       PlantedBug bug = PlantedBug::kNone);

}  // namespace neptune::chaos
