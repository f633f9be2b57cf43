// Ranks a disjunction of words: the best documents that hold at least one.
//
// Source: MaxScore (Turtle and Flood 1995) with the block bounds of Ding and Suel 2011, applied to
//   windows of kWindowSize documents as Lucene's MaxScoreBulkScorer does: in each window the leaves
//   with small bounds, which together cannot lift a document into the queue, are not walked over;
//   they are only looked up for documents that the others leave promising.
// Layer: index/core, search.
// Threads: thread-compatible; lives for one search.
// Limits: 10 KiB beside the leaves.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "index/core/search/matcher.h"
#include "index/core/search/scored_leaf.h"
#include "index/core/search/top_k_queue.h"

namespace search::index {

class WindowRanker {
 public:
  static constexpr uint32_t kWindowSize = 2048;

  // Documents of `excluded` are left out.
  WindowRanker(std::vector<ScoredLeaf> leaves, std::vector<std::unique_ptr<Matcher>> excluded,
               Evaluation* evaluation, TopKQueue* queue);

  RankingOutcome Run();

 private:
  struct Clause {
    ScoredLeaf leaf;
    uint32_t block = 0;  // first that may reach into the window
    bool present = false;
    ScoreUnits bound = 0;    // in the window
    uint64_t bound_sum = 0;  // of this and all clauses before it
  };

  void BoundClause(Clause* clause) const;
  // Orders the clauses by bound and returns how many of the first ones are only looked up;
  // clauses_.size() if the window cannot give a hit.
  size_t SplitClauses();
  void Accumulate(const Clause& clause);
  void AccumulateBlock(const Clause& clause, std::span<const uint32_t> ordinals, uint32_t begin,
                       uint32_t end);
  void KeepLive(const uint64_t* live);
  void Collect(size_t looked_up);
  void Consider(uint32_t ordinal, uint64_t units, size_t looked_up);
  bool IsExcluded(uint32_t ordinal);

  const SearchSpace& space_;
  Evaluation* evaluation_;
  TopKQueue* queue_;
  std::vector<Clause> clauses_;
  std::vector<std::unique_ptr<Matcher>> excluded_;
  RankingOutcome outcome_;

  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  std::array<ScoreUnits, kWindowSize> units_ = {};
  std::array<uint64_t, kWindowSize / 64> matches_ = {};
};

}  // namespace search::index
