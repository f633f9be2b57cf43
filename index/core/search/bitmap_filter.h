// Filters documents by the bitmaps of a query's frequent words: all of some bitmaps must hold a
// document and none of others may (impact_table.h).
//
// Source: the bitmap containers of compressed bit sets [Chambi16].
// Threads: values; the bitmaps are immutable.

#pragma once

#include <cstdint>
#include <vector>

#include "index/core/search/impact_table.h"

namespace search::index {

// Accepts documents that are set in every required bitmap and in no excluded one.
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
