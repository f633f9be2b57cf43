// What a search found, and how the answers of partitions become one.
//
// Second phase: index/core/rerank.
// Threads: plain values, pure functions.
//
// The order of hits: the second_phase_count best by first score keep their gain, all others lose it,
// and what results is ordered by FinalScore. A gain is never negative, so the former stay in front.
// Which documents keep their gain depends on first scores alone, so that a merge decides it as one
// index does: a document that is not among the best of its partition is not among the best of all.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace search::index {

struct Hit {
  uint64_t doc_id = 0;
  float score = 0;  // of the first phase; comparable between all documents
  float gain = 0;   // by the second phase; 0 of documents that it did not rate

  bool operator==(const Hit&) const = default;
};

inline float FinalScore(const Hit& hit) { return hit.score + hit.gain; }

struct SearchResult {
  // Best first; equal final scores by ascending doc_id. As many as were asked for or, if that is
  // more, second_phase_count: a merge needs them all.
  std::vector<Hit> hits;
  // Number of matching documents; a lower bound unless total_is_exact.
  uint64_t total = 0;
  bool total_is_exact = false;
  // False if evaluation was stopped: hits are the best found so far.
  bool complete = true;
  // How many of the best by first score have their gain. 0 if the second phase was not asked for or
  // was stopped: hits are then in the order of the first.
  size_t second_phase_count = 0;
  // Whether documents were rated without positions, which leaves only the title to the second phase.
  bool second_phase_lacks_positions = false;

  bool operator==(const SearchResult&) const = default;
};

// Gives the gains to the documents that keep them, and orders all by final score.
// REQUIRES: hits are all that may be among the best.
void OrderHits(size_t second_phase_count, std::vector<Hit>* hits);

// The answer of two disjoint sets of documents together: the operator that reduces the answers of
// partitions. Commutative and associative for one k; totals add up, and the result is exact or
// complete where both are. The second phase counts for as many as in the answer where it counts for
// fewest: where one partition was stopped before it, for none. Keeps k hits, or second_phase_count.
SearchResult MergeResults(const SearchResult& a, const SearchResult& b, size_t k);

}  // namespace search::index
