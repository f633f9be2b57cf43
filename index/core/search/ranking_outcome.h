// What ranking finds beside the best documents.
//
// Threads: plain values.

#pragma once

#include <cstdint>

namespace search::index {

struct RankingOutcome {
  // Documents known to match.
  uint64_t matched = 0;
  // Whether documents may have been left out because they cannot enter the best k.
  bool pruned = false;
};

}  // namespace search::index
