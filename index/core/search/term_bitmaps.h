// Bitmaps of the documents of frequent terms, made in memory when a segment is opened for search:
// whether a document holds such a term is one bit's look-up, and counting intersections and unions
// of them is a few instructions for 64 documents.
//
// Source: none; the same idea as bitmap containers of compressed bit sets (Chambi et al. 2016).
// Layer: index/core, search.
// Threads: immutable.
// Errors: a term whose postings are damaged has no bitmap; its damage shows when it is searched for.
// Limits: kBitmapMemoryMax bytes, for the most frequent terms first.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "index/core/segment/segment_reader.h"

namespace search::index {

// A term with at least one in so many documents has a bitmap.
inline constexpr uint32_t kBitmapDocumentsPerPosting = 32;
// Largest sum of the bitmaps of a segment. Default: 2,000 terms of a segment of 262,144 documents,
// more than are frequent enough in any text measured.
inline constexpr size_t kBitmapMemoryMax = size_t{64} << 20;
// Words that a bitmap's size is a multiple of; those behind the last document are 0.
inline constexpr size_t kBitmapStride = 8;

class TermBitmaps {
 public:
  explicit TermBitmaps(const Segment& segment, size_t memory_max = kBitmapMemoryMax);

  // One bit for each document ordinal, lowest first, or nullptr.
  const uint64_t* Find(uint32_t term_ordinal) const;
  // Words of each bitmap.
  size_t word_count() const { return word_count_; }
  size_t bitmap_count() const { return terms_.size(); }

 private:
  size_t word_count_;
  std::vector<std::pair<uint32_t, uint32_t>> terms_;  // term ordinal, number of bitmap; ascending
  std::vector<uint64_t> words_;
};

inline bool HoldsDocument(const uint64_t* bitmap, uint32_t ordinal) {
  return (bitmap[ordinal / 64] >> (ordinal % 64) & 1) != 0;
}

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
