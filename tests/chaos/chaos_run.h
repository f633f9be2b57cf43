// One run of a simulated cluster under troubles and load, with every checker on it.
//
// Threads: none but the caller's.
// Limits: kFaultsEnd plus ten seconds of virtual time.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/chaos/chaos_fault.h"
#include "tests/chaos/planted_bug.h"

namespace neptune::chaos {

inline constexpr TimePoint kFaultsEnd = TimePoint(std::chrono::seconds(20));

// The first thing that went wrong; it ends the run.
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
  // How often a checker could ask: calls that had to succeed, and pairs of nodes that had to know
  // each other, to offer what the other serves, or to have forgotten it.
  size_t must_succeed_count = 0;
  size_t must_know_count = 0;
  size_t must_offer_count = 0;
  size_t must_forget_count = 0;
  uint64_t event_count = 0;
  uint64_t trace_hash = 0;
};

// The troubles that a seed draws.
std::vector<ChaosFault> FaultsOf(uint64_t seed);

// `seed` decides everything but the troubles.
Outcome RunChaos(uint64_t seed, const std::vector<ChaosFault>& chaos_faults,
                 PlantedBug bug = PlantedBug::kNone);

// The shortest list of troubles found that violates the same check as `troubles` do.
std::vector<ChaosFault> Minimise(uint64_t seed, const std::vector<ChaosFault>& chaos_faults,
                                 const Violation& violation, PlantedBug bug = PlantedBug::kNone);

}  // namespace neptune::chaos
