// The results of a page.
//
// Threads: plain values.

#pragma once

#include <cstdint>

namespace search::frontend {

// Results [start, start + count) in rank order.
struct PageWindow {
  uint32_t start = 0;
  uint32_t count = 10;
  // Results are folded (result_folding.h), so that the first page may cover more of the ranking.
  bool folds = false;
};

}  // namespace search::frontend
