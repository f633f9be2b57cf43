// The posting list of one query word for evaluation by document blocks: a dense list of the impact
// table used in place, or a decoded copy of all postings of another list, with units.
//
// Threads: thread-compatible; lives for one search.
// Errors: a damaged list reads as empty; Evaluation::damaged reports it. A list of several blocks
//   that the impact table lacks is damaged: its dictionary entry is not what the table was made of.
// Limits: a list that is not dense takes 8 bytes per posting.

#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "index/core/search/evaluation.h"
#include "index/core/search/query_plan.h"

namespace search::index {

class WordList {
 public:
  // `occurrences`: number of occurrences of the word in the query; 0 if it does not score.
  WordList(const PlanLeaf& leaf, uint32_t occurrences, Evaluation* evaluation);

  const TermEntry& entry() const { return entry_; }
  uint32_t document_frequency() const { return entry_.document_frequency; }
  bool scores() const { return scores_; }
  const TermWeight& weight() const { return weight_; }

  // For dense lists.
  bool is_dense() const { return dense_ != nullptr; }
  const ImpactList& dense() const { return *dense_; }
  // Largest units of a posting in the document block; 0 if it has none.
  ScoreUnits BlockUnits(uint32_t block) const {
    return weight_.Units(FromImpactBound(dense_->maxima[block]));
  }

  // For other lists, after Decode.
  void Decode();
  // Ascending, followed by kKernelRoom elements of UINT32_MAX (block_kernels.h).
  std::span<const uint32_t> ordinals() const { return {ordinals_.get(), count_}; }
  // Empty if the word does not score.
  std::span<const ScoreUnits> units() const { return {units_.get(), scores_ ? count_ : 0}; }
  // The postings of a document block as an index range of ordinals() and units(). Blocks ascend
  // from call to call; Rewind starts over.
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  Range InBlock(uint32_t block);
  void Rewind() { next_ = 0; }

  // Index of the document's posting in the list. REQUIRES: the document holds the word.
  // Cost: small if documents ascend from call to call.
  uint32_t PostingOf(uint32_t ordinal);
  // The same of any document; nullopt if it does not hold the word.
  std::optional<uint32_t> FindPosting(uint32_t ordinal);
  void PrefetchPosting(uint32_t ordinal) const {
    if (!is_dense()) return;
    __builtin_prefetch(&dense_->documents[ordinal / kDocumentBlockSize]);
    __builtin_prefetch(&dense_->firsts[ordinal / kDocumentBlockSize]);
  }

  // True if `count` lookups are cheaper than decoding the list.
  bool CanSeek(size_t count) const {
    return count_ == 0 && list_ != nullptr && 2 * count < entry_.block_count();
  }
  // The document's units if the list holds it. Documents must ascend from call to call.
  // REQUIRES: CanSeek returned true for some count; not decoded.
  std::optional<ScoreUnits> Seek(uint32_t ordinal);

  // Largest units of any posting.
  ScoreUnits units_max() const { return units_max_; }
  // A lower bound of the units of the count-th best posting; 0 if unknown. REQUIRES: count > 0.
  ScoreUnits BestUnits(size_t count) const;

 private:
  bool IsLost() const { return list_ == nullptr && entry_.block_count() > 1; }
  void ScoreOnce(PostingCursor* cursor);
  // Index of the first posting, from `from` on, at or after the ordinal.
  uint32_t FindForward(uint32_t from, uint32_t ordinal) const;

  TermEntry entry_;
  bool scores_;
  TermWeight weight_;
  const ImpactList* list_;   // nullptr: a single posting block, or damaged
  const ImpactList* dense_;  // list_ if it is dense, else nullptr
  ScoreUnits units_max_ = 0;

  uint32_t count_ = 0;
  uint32_t next_ = 0;
  Evaluation* evaluation_;
  PostingCursor* cursor_ = nullptr;  // used by Seek
  std::unique_ptr<uint32_t[]> ordinals_;
  std::unique_ptr<ScoreUnits[]> units_;
};

}  // namespace search::index
