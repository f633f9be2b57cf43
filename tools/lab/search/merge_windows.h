// The effect of background merges of live documents: separates the queries of short time windows in
// which a node merged from those in which none did.
//
// Threads: thread-compatible.
// Units: seconds since a load began.
// Errors: those of node_status.h.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/search/node_status.h"
#include "tools/replay/measurement.h"

namespace search::lab {

// Larger: fewer windows without a merge. Smaller: queries last longer than their window.
inline constexpr double kMergeWindowS = 0.05;

struct MergeSpan {
  double begin_s = 0;
  double end_s = 0;
};

// The merges in the section "index SERVICE merges" of a node, read at `now_s`.
neptune::StatusOr<std::vector<MergeSpan>> MergesOf(const std::vector<tools::StatusTable>& section,
                                                   double now_s);

struct MergeWindows {
  std::vector<tools::Measurement> with;
  std::vector<tools::Measurement> without;
  double with_percent = 0;  // of the windows
};

// Splits the measurements of requests that were due in [begin_s, end_s).
MergeWindows SplitByMerges(const std::vector<tools::Measurement>& measurements,
                           const std::vector<MergeSpan>& merges, double begin_s, double end_s);

}  // namespace search::lab
