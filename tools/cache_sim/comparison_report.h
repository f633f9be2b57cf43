// Shows a comparison of eviction policies: as text, as JSON, and as plots over the cache size.
//
// Threads: pure functions; RenderComparison lets gnuplot draw.
// Errors: those of tools/plot.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/cache_sim/cache_sim.h"

namespace search::tools {

// One table for each measure: hits, bytes hit and, if the trace has costs, time saved, in percent.
std::string DescribeComparison(const CacheComparison& comparison);

// Format: README.md.
std::string ComparisonJson(const std::vector<CacheComparison>& comparisons);

// An HTML page of all comparisons with their plots.
neptune::StatusOr<std::string> RenderComparisons(const std::vector<CacheComparison>& comparisons);

}  // namespace search::tools
