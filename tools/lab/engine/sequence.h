// When a full run looks at its rows, how sure it must be at each look, and whether it goes on.
//
//   runs:   least ──► 2 least ──► 4 least ──► ... most
//            look       look        look       look    stops as soon as every row is decided
//
// A run that looks repeatedly, and stops when the figures please, is wrong more often than its
// intervals say. So the misses that are permitted are spread over the looks: a spending function
// determines how many of them may be used up after a given share of the runs, and the interval at a
// look may miss as often as the function has grown since the look before. By the union bound all
// intervals together miss at most kMiss, whichever look ends the run; so the last look may call
// every row. The shape is that of [Pocock77], which is generous to early looks, because most rows
// of an experiment are clear after a few runs. The correlation between looks would make the later
// intervals narrower; it is not used, because it requires an integration for each row.
//
// Stopping because no row can be decided in the runs that remain adds no misses.
//
// Source: [Lan83] (spending functions; this one is alpha log(1 + (e - 1) t)), [Jennison89]
//   (repeated intervals).
// Threads: pure functions.

#pragma once

#include <vector>

#include "tools/lab/engine/judgement.h"
#include "tools/statistics/estimate.h"

namespace search::lab {

struct Look {
  int run_count = 0;    // of each point, in all
  double miss = kMiss;  // for the intervals at this look
};

// The looks of a run that may end after `least` and ends after `most` runs at the latest; a single
// one if they are equal. REQUIRES: 1 <= least <= most.
std::vector<Look> PlanLooks(int least, int most);

// Whether the run goes on after a look at `run_count` runs: a row is not decided, and might be
// within `most`.
bool IsWorthMoreRuns(const Judgement& judgement, int run_count, int most);

}  // namespace search::lab
