// The impact of every posting of the longer lists, computed in memory when a segment is opened for
// search: queries then read two bytes per posting instead of frequencies and field lengths, and
// know which documents can be among the best before they read a list.
//
//   document blocks   64 documents each; all lists share the same blocks
//   dense list        a word with at least one posting per block on average:
//                       documents[block]   bit d: document 64 * block + d holds the word
//                       firsts[block]      index of the block's first posting
//                       maxima[block]      bound of its impacts (score.h), 0 if it has none
//                       impacts[posting]
//   sparse list       impacts[posting] only, for lists of more than one posting block; shorter
//                     lists are scored during the search
//
// Source: fixed blocks with bounds in flat arrays [Dimopoulos13], candidates
//   before postings [Mallia21], k-th best scores [Kane18].
// Threads: immutable.
// Errors: a list with damaged postings is not in the table; a search of the list reports the
//   damage.
// Limits: dense lists up to ImpactTableOptions::dense_size_max; the most frequent words first.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "index/core/search/score.h"
#include "index/core/segment/segment_reader.h"

namespace search::index {

inline constexpr uint32_t kDocumentBlockSize = 64;
// Arrays indexed by document block are padded with empty blocks to a multiple of this stride.
inline constexpr size_t kDocumentBlockStride = 64;
// Number of impacts past the end of a list that may be read.
inline constexpr size_t kImpactPadding = 32;
// The k for which each list knows a lower bound of its k-th best impact.
inline constexpr std::array<uint32_t, 3> kBestCounts = {10, 100, 1000};

struct ImpactList {
  const uint64_t* documents = nullptr;  // dense lists only, as are the next two
  const uint32_t* firsts = nullptr;
  const uint8_t* maxima = nullptr;
  const Impact* impacts = nullptr;
  uint32_t posting_count = 0;
  Impact impact_max = 0;
  // Lower bound of the impact of the list's kBestCounts[i]-th best posting; 0 if it has fewer.
  std::array<Impact, kBestCounts.size()> best = {};

  bool is_dense() const { return documents != nullptr; }
};

struct ImpactTableOptions {
  // Memory for dense lists in addition to their impacts, 13 bytes per document block each. Larger:
  // more of the frequent words of large segments are evaluated by blocks. Default: enough for 5,000
  // words of 1.2 million documents.
  size_t dense_size_max = size_t{1} << 30;
};

class ImpactTable {
 public:
  ImpactTable(const Segment& segment, const Scorer& scorer, const ImpactTableOptions& options = {});
  ~ImpactTable();
  ImpactTable(const ImpactTable&) = delete;
  ImpactTable& operator=(const ImpactTable&) = delete;

  // The term's list; nullptr if it has a single posting block or is damaged.
  const ImpactList* Find(const TermEntry& entry) const {
    if (entry.block_count() <= 1 || entry.first_block >= list_of_block_.size()) return nullptr;
    const uint32_t number = list_of_block_[entry.first_block];
    if (number == 0) return nullptr;
    const ImpactList& list = lists_[number - 1];
    // they differ if the list is damaged
    return list.posting_count == entry.document_frequency ? &list : nullptr;
  }
  // Bit d is set if document d holds the word; nullptr unless the list is dense.
  const uint64_t* FindDocuments(const TermEntry& entry) const {
    const ImpactList* list = Find(entry);
    return list == nullptr ? nullptr : list->documents;
  }
  // Bound of the impacts of a posting block of a list in the table.
  uint8_t PostingBlockBound(const TermEntry& entry, uint32_t block) const {
    return posting_block_bounds_[entry.first_block + block];
  }

  // Number of document blocks, padding included.
  size_t block_count() const { return block_count_; }
  // Memory in bytes.
  size_t size() const { return arena_size_; }

 private:
  class Builder;

  size_t block_count_;
  std::vector<ImpactList> lists_;
  // indexed by a term's first posting block: list number + 1, or 0
  std::vector<uint32_t> list_of_block_;
  std::vector<uint8_t> posting_block_bounds_;
  void* arena_ = nullptr;
  size_t arena_size_ = 0;
};

inline bool HoldsDocument(const uint64_t* documents, uint32_t ordinal) {
  return (documents[ordinal / 64] >> (ordinal % 64) & 1) != 0;
}

}  // namespace search::index
