// Ranks a flat query: bounds first, then scores the blocks or documents with the best bounds, then
// the others whose bounds exceed the threshold reached by then.
//
//   few documents can reach the top k: those of the rarest required word, or of the alternatives
//   that are not dense if the dense ones alone cannot reach the threshold
//     Candidates, filtered by the other lists ──▶ CandidateScorer ──▶ HitCollector ──▶ TopKQueue
//   otherwise
//     BlockBounds of all blocks ──▶ BlockScorer ──▶ HitCollector ──▶ TopKQueue
//
// Source: candidates by block bounds [Dimopoulos13] [Mallia21]; the threshold is raised beforehand
//   by k-th best scores of single words [Kane18].
// Departs from source: the best-bounded candidates are scored first, in the order of documents.
// Threads: thread-compatible; lives for one search.
// Limits: those of candidates.h and candidate_scorer.h, or of block_scorer.h.

#pragma once

#include "index/core/search/candidates.h"
#include "index/core/search/hit_collector.h"
#include "index/core/search/query_words.h"
#include "index/core/search/ranking_outcome.h"

namespace search::index {

class BlockRanker {
 public:
  // `count_exactly`: for a plan with phrases, checks every document that holds all words, so that
  // RankingOutcome::matched is exact.
  BlockRanker(const FlatPlan& plan, bool count_exactly, Evaluation* evaluation, TopKQueue* queue);
  BlockRanker(const BlockRanker&) = delete;
  BlockRanker& operator=(const BlockRanker&) = delete;

  RankingOutcome Run();

 private:
  void RaiseBar();
  bool CollectEssential();
  void RankCandidates();
  void RankBlocks();

  Evaluation* evaluation_;
  QueryWords words_;
  HitCollector hits_;
  Candidates candidates_;
};

}  // namespace search::index
