// The result of a search, and the merge of partitions' results.
//
// Second phase: index/core/rerank.
// Threads: plain values, pure functions.
//
// Order of hits: the second_phase_count best by first score keep their gain and lacking words, all
// others lose them, and the hits are ordered by FinalScore. A gain is never negative, so hits with
// a gain stay in front. Which documents keep their gain depends on first scores alone, so a merge
// decides as a single index would: a document that is not among the best of its partition is not
// among the best of all.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace search::index {

inline constexpr size_t kLackableWordsMax = 64;

struct Hit {
  uint64_t doc_id = 0;
  float score = 0;  // first-phase score; comparable between all documents
  float gain = 0;   // second-phase gain; 0 for documents that the second phase did not rate
  // Bit i: the second phase rated the document and it lacks the query's i-th scoring word
  // (scoring_words.h). Only for the first kLackableWordsMax words.
  uint64_t lacks = 0;

  bool operator==(const Hit&) const = default;
};

inline float FinalScore(const Hit& hit) { return hit.score + hit.gain; }

struct SearchResult {
  // Best first; equal final scores by ascending doc_id. Holds max(k, second_phase_count) hits,
  // because a merge needs them all.
  std::vector<Hit> hits;
  // Number of matching documents; a lower bound unless total_is_exact.
  uint64_t total = 0;
  bool total_is_exact = false;
  // False if evaluation was stopped: hits are the best found so far.
  bool complete = true;
  // Number of best hits by first score that have a gain. 0 if the second phase was not requested or
  // was stopped: hits are then in first-score order.
  size_t second_phase_count = 0;
  // True if documents were rated without positions, which leaves only the title to the second
  // phase.
  bool second_phase_lacks_positions = false;
  // True if a prefix of the query stands for more terms of the segment than were looked up, so that
  // matching documents may be missing.
  bool prefix_is_cut = false;
  // True if a phrase among the query's alternatives was left out, because the segment has no
  // positions.
  bool phrase_is_left_out = false;
  // Number of matching documents without a date, if hits are ordered by date; a lower bound like
  // `total`.
  uint64_t undated = 0;

  bool operator==(const SearchResult&) const = default;
};

// Drops what the second phase added to all but the second_phase_count best hits, and orders hits by
// final score.
// REQUIRES: hits contain every document that may be among the best.
void OrderHits(size_t second_phase_count, std::vector<Hit>* hits);

// Merges the answers of two disjoint sets of documents: the operator that reduces the answers of
// partitions. Commutative and associative for one k. Totals add up; the result is exact or complete
// where both are. Its second_phase_count is the smaller of the two: 0 if one partition was stopped
// before its second phase. Keeps k hits, or second_phase_count.
SearchResult MergeResults(const SearchResult& a, const SearchResult& b, size_t k);

}  // namespace search::index
