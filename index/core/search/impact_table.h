// Precomputed impacts of the postings of the longer lists, built in memory when a segment is opened
// for search. Queries read two bytes per posting instead of frequencies and field lengths, and
// block maxima show which documents can reach the top k before any list is read.
//
//   document blocks   64 documents each; all lists share these blocks
//   dense list        a word with at least one posting a block on average:
//                       documents[block]   bit d: document 64 * block + d holds the word
//                       firsts[block]      index of the block's first posting
//                       maxima[block]      bound of its impacts (score.h), 0 if it has none
//                       impacts[posting]
//   other list        impacts[posting] alone, for lists of more than one posting block; shorter
//                     lists are scored at query time
//
// Source: fixed blocks with bounds in flat arrays [Dimopoulos13], candidates
//   before postings [Mallia21], k-th best scores [Kane18].
// Threads: immutable.
// Errors: a list with damaged postings is left out of the table; a search reports the damage.
// Limits: dense lists take at most ImpactTableOptions::dense_size_max; the most frequent words
//   first.

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
// Arrays by document block are padded with empty blocks to a multiple of this.
inline constexpr size_t kDocumentBlockStride = 64;
// Number of readable impacts past the end of a list.
inline constexpr size_t kImpactPadding = 32;
// The k for which each list knows a lower bound of its k-th best impact.
inline constexpr std::array<uint32_t, 3> kBestCounts = {10, 100, 1000};

struct ImpactList {
  const uint64_t* documents = nullptr;  // only for dense lists, as are the next two
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
  // Memory for dense lists in addition to their impacts, at 13 bytes per document block and list.
  // Larger: more words of large segments are evaluated by blocks. Default: enough for 5,000 words
  // of 1.2 million documents.
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
  // Index of the list + 1, by the term's first posting block; 0: none.
  std::vector<uint32_t> list_of_block_;
  std::vector<uint8_t> posting_block_bounds_;
  void* arena_ = nullptr;
  size_t arena_size_ = 0;
};

inline bool HoldsDocument(const uint64_t* documents, uint32_t ordinal) {
  return (documents[ordinal / 64] >> (ordinal % 64) & 1) != 0;
}

}  // namespace search::index
