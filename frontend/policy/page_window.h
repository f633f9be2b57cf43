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
};

}  // namespace search::frontend
