// Filters documents by bitmaps of a query's frequent words (impact_table.h): a document must be in
// all required bitmaps and in none of the excluded ones. The idea is that of bitmap containers of
// compressed bit sets [Chambi16].
//
// Threads: values; the bitmaps are immutable.

#pragma once

#include <cstdint>
#include <vector>

#include "index/core/search/impact_table.h"

namespace search::index {

// Passes documents that are in every bitmap of `all` and in no bitmap of `none`.
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
