// What ranking reports in addition to the best documents.
//
// Threads: plain values.

#pragma once

#include <cstdint>

namespace search::index {

struct RankingOutcome {
  // Number of documents known to match.
  uint64_t matched = 0;
  // True if documents that cannot enter the top k may have been skipped.
  bool pruned = false;
};

}  // namespace search::index
