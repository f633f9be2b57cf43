// Decides whether a figure reaches its line.
//
//   line:      ──────────────┤ reached up to here
//   holds          ├──┤      │
//   not decided          ├───┼──┤
//   missed                   │   ├──┤
//
// A figure holds with its whole interval or not at all: one whose middle reaches the line while its
// worse end does not is not decided, however near it looks.
//
// Source: the interval form of a test, [Schuirmann87] for figures with a margin.
// Threads: pure functions.
// Limits: figures of fewer than kRunCountMin runs never hold, except in a smoke run and results of
//   formulas.

#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "tools/lab/engine/results.h"
#include "tools/statistics/estimate.h"

namespace search::lab {

// Fewer runs may agree by luck: of two normal values, the interval misses the truth as rarely as it
// should, but its width says next to nothing.
inline constexpr int kRunCountMin = 5;

enum class Verdict { kHolds, kMissed, kNotDecided };
std::string_view VerdictName(Verdict verdict);

// The range in which a figure must lie. Both ends belong to it.
struct Region {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

struct Decision {
  Verdict verdict = Verdict::kNotDecided;
  // kNotDecided: about how many further runs would decide; infinity if the middle is on the line.
  double more_runs = 0;
};

// A smoke run asks for the shape only: what the interval does not exclude holds.
Decision Decide(const Estimate& ours, const Region& region, Length length);
// For what was observed in `run_count` runs and is not a number.
Decision Decide(bool holds, int run_count, Length length);

// "about 12 more runs would decide".
std::string MoreRunsText(const Decision& decision);

}  // namespace search::lab
