// Which documents stand in some bitmaps and not in others: the words of a query that are frequent
// enough to have one (impact_table.h).
//
// The same idea as bitmap containers of compressed bit sets [Chambi16].
// Threads: values; the bitmaps are immutable.

#pragma once

#include <cstdint>
#include <vector>

#include "index/core/search/impact_table.h"

namespace search::index {

// Documents must stand in all of some bitmaps and in none of others.
struct BitmapFilter {
  std::vector<const uint64_t*> all;
  std::vector<const uint64_t*> none;

  bool empty() const { return all.empty() && none.empty(); }
  bool Passes(uint32_t ordinal) const {
    for (const uint64_t* bitmap : all) {
      if (!HoldsDocument(bitmap, ordinal)) return false;
    }
    for (const uint64_t* bitmap : none) {
      if (HoldsDocument(bitmap, ordinal)) return false;
    }
    return true;
  }
};

}  // namespace search::index
