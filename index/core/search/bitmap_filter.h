// Which documents stand in some bitmaps and not in others: the words of a query that are frequent
// enough to have one (impact_table.h).
//
// Source: none; the same idea as bitmap containers of compressed bit sets (Chambi et al. 2016).
// Layer: index/core, search.
// Threads: values; the bitmaps are immutable.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "index/core/search/impact_table.h"

namespace search::index {

// Words that are counted together; kDocumentBlockStride is a multiple.
inline constexpr size_t kBitmapStride = 8;

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

// Number of documents that pass. REQUIRES: filter.all is not empty; word_count is a multiple of
// kBitmapStride.
uint64_t CountPassing(const BitmapFilter& filter, size_t word_count);

// Number of bits set. REQUIRES: word_count is a multiple of kBitmapStride.
uint64_t CountBits(const uint64_t* words, size_t word_count);

}  // namespace search::index
