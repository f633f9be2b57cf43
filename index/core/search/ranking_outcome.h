// What ranking reports in addition to the best documents.
//
// Threads: plain values.

#pragma once

#include <cstdint>

namespace search::index {

struct RankingOutcome {
  // Number of documents known to match.
  uint64_t matched = 0;
  // True if documents may have been skipped because they cannot enter the best k.
  bool pruned = false;
};

}  // namespace search::index
