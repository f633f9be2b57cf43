// Ranks any query document at a time: the rarest required word leads, the others confirm.
//
// Source: conjunctive document-at-a-time evaluation with block maxima [Ding11]: blocks
//   of the leading list that cannot contain a hit are not decoded; a candidate is dropped once its
//   known score plus the bounds of the remaining lists cannot enter the queue; phrases are checked
//   last.
// Threads: thread-compatible; lives for one search.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "index/core/search/bitmap_filter.h"
#include "index/core/search/matcher.h"
#include "index/core/search/phrase_check.h"
#include "index/core/search/ranking_outcome.h"
#include "index/core/search/scored_leaf.h"
#include "index/core/search/top_k_queue.h"

namespace search::index {

class DocumentRanker {
 public:
  // `exhaustive`: does not decompose the query, but visits every match of the whole query's
  // matcher.
  DocumentRanker(const QueryPlan& plan, bool exhaustive, Evaluation* evaluation, TopKQueue* queue);

  RankingOutcome Run();

 private:
  void AddRequired(const PlanNode& node);
  void AddRequiredLeaves(const PlanNode& node);
  // Chooses the leading list, adds the lists that only score, and sums up the bounds.
  void Prepare(const QueryPlan& plan);

  // The first candidate at or after `target`: a document that the lead holds and the bitmaps
  // accept.
  uint32_t SeekLead(uint32_t target);
  uint32_t SkipBlocks(uint32_t target);
  // Considers the candidate; returns the next target, larger than `ordinal`.
  uint32_t Consider(uint32_t ordinal);
  struct Candidate {
    uint32_t ordinal = 0;
    uint64_t units = 0;        // of the leaves that hold it, so far
    uint32_t next_target = 0;  // no document before it can be a hit, except for the candidate
  };
  // True if the required leaf holds the document and the document can still enter the queue;
  // `rest`: the most that the other leaves add.
  bool Confirms(ScoredLeaf* leaf, uint64_t rest, Candidate* candidate);
  bool PassesFilters(Candidate* candidate);
  bool CanEnter(uint64_t units);

  const SearchSpace& space_;
  Evaluation* evaluation_;
  TopKQueue* queue_;
  std::vector<PlanLeaf> unclaimed_;  // scoring leaves that are not required

  std::unique_ptr<Matcher> lead_;     // used if no single word is required
  std::vector<ScoredLeaf> required_;  // rarest first; the first leads unless lead_ does
  std::vector<uint64_t> rest_;  // bound of the remaining leaves, by number of required leaves added
  std::vector<ScoredLeaf> optional_;
  std::vector<PhraseAtCursors> phrases_;
  std::vector<std::unique_ptr<Matcher>> filters_;
  std::vector<std::unique_ptr<Matcher>> excluded_;
  BitmapFilter filter_;                     // bitmaps of required and excluded frequent words
  uint32_t prefetched_block_ = UINT32_MAX;  // last prefetched block of the lead
  uint32_t bounded_last_ = 0;  // last document of the lead's block known to be promising
  bool has_bounded_ = false;
  ScoreUnits bounded_required_ = 0;
  RankingOutcome outcome_;
};

}  // namespace search::index
