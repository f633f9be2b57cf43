// Whether background merges of live documents are felt: queries of short windows of time in which some node merged, and of
// those in which none did.
//
// Threads: thread-compatible.
// Units: seconds since a load began.
// Errors: of ReadMerges: those of node_status.h.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/search/node_status.h"
#include "tools/replay/measurement.h"

namespace search::lab {

// Longer: fewer windows without a merge; shorter: a query is longer than its window.
inline constexpr double kMergeWindowS = 0.05;

struct MergeSpan {
  double begin_s = 0;
  double end_s = 0;
};

// The merges in a node's section "index SERVICE merges" that was read at `now_s`.
neptune::StatusOr<std::vector<MergeSpan>> MergesOf(const std::vector<NodeStatusTable>& section,
                                                   double now_s);

struct MergeWindows {
  std::vector<tools::Measurement> with;
  std::vector<tools::Measurement> without;
  double with_percent = 0;  // of the windows
};

// Of measurements that were due in [begin_s, end_s).
MergeWindows SplitByMerges(const std::vector<tools::Measurement>& measurements,
                           const std::vector<MergeSpan>& merges, double begin_s, double end_s);

}  // namespace search::lab
