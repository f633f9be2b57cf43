// Ranks a flat query block by block: bounds first, then the most promising blocks or documents,
// then the rest that can still reach the threshold that these have set.
//
//   few documents can be among the best (those of the rarest required word, or those of the sparse
//   alternatives if the dense ones alone cannot reach the threshold):
//     documents ──▶ filtered by the other lists ──▶ bounds ──▶ best-bounded, then the rest
//   otherwise:
//     bounds of all blocks (sums of block maxima) ──▶ blocks over the threshold
//       ──▶ best-bounded, then the rest
//   phrases:
//     documents by descending score, each checked in its turn
//
// Source: candidates by block bounds [Dimopoulos13] [Mallia21]; the threshold is initialized with
//   k-th best scores of single words [Kane18].
// Departs from source: the best-bounded candidates are scored first, in document order.
// Threads: thread-compatible; lives for one search.
// Limits: memory is 2 bytes per document block, 8 if words are required, and 8 bytes per posting of
//   sparse lists, twice that for a list that leads.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "index/core/search/block_kernels.h"
#include "index/core/search/flat_plan.h"
#include "index/core/search/phrase_check.h"
#include "index/core/search/ranking_outcome.h"
#include "index/core/search/top_k_queue.h"
#include "index/core/search/word_list.h"

namespace search::index {

class BlockRanker {
 public:
  // `count_exactly`: for a plan with phrases, checks every document that holds all words, so that
  // RankingOutcome::matched is exact.
  BlockRanker(const FlatPlan& plan, bool count_exactly, Evaluation* evaluation, TopKQueue* queue);
  BlockRanker(const BlockRanker&) = delete;
  BlockRanker& operator=(const BlockRanker&) = delete;

  RankingOutcome Run();

  // Counts the matching documents without ranking them; nullopt if there is no fast way to count
  // them.
  // REQUIRES: no phrases. Call it instead of Run.
  std::optional<uint64_t> Count();

 private:
  struct Phrase {
    std::vector<WordList*> words;
    PhraseCheck check;
    std::vector<uint32_t> postings;  // posting of each word, for each document of a group
  };
  struct Pending {
    ScoreUnits units;
    uint32_t ordinal;
    bool is_checked;
  };

  void AddPhrases(const FlatPlan& plan);
  // A score threshold that at least k matching documents are known to reach, from the statistics of
  // single lists; 0 if unknown.
  ScoreUnits KnownBar() const;
  // A subset of the alternatives such that every document among the best holds at least one of
  // them.
  std::vector<WordList*> EssentialAlternatives() const;

  uint64_t CountIntersection(WordList* a, WordList* b);
  uint64_t CountBlocks();

  // Block-at-a-time evaluation.
  void RankBlocks();
  void BoundBlocks();
  void AddBounds(const WordList& list);
  std::vector<uint32_t> FindBlocks();
  void IntersectBlocks();
  void ScoreBlocks(std::span<const uint32_t> blocks, bool best, uint16_t cut);
  void PrefetchBlock(uint32_t block) const;
  void PrefetchImpacts(uint32_t block) const;
  void ConsiderBlock(uint32_t block);
  void AddUnits(uint32_t block);
  uint64_t DocumentsOf(const std::vector<WordList*>& lists, uint32_t block);
  uint16_t LeastBound() const;
  void RewindLists();

  // Document-at-a-time evaluation.
  void RankDocuments();
  void CollectDocuments(const WordList& list);
  void MergeDocuments(const WordList& list);
  void Sieve();
  void Keep(WordList* list, bool wanted);
  // Adds the units of a sparse list to the documents that it holds, and calls found(i, held) for
  // each.
  template <typename Found>
  void Meet(WordList* list, Found found);
  void KeepAlternatives();
  void ScoreDocuments();
  void ScoreChosen(size_t count);

  void Offer(uint32_t ordinal, uint64_t units);
  void CheckPending();
  void CheckBest(size_t limit);
  void CheckGroup(std::span<const Pending> group);

  const SearchSpace& space_;
  const BlockKernels& kernels_;
  Evaluation* evaluation_;
  TopKQueue* queue_;
  const uint64_t* live_;  // bitmap of the documents that may match; nullptr: all
  const bool checks_all_;
  RankingOutcome outcome_;

  std::vector<WordList> lists_;
  std::vector<WordList*> required_;  // rarest first
  std::vector<WordList*> alternatives_;
  std::vector<WordList*> optional_;
  std::vector<WordList*> excluded_;
  std::vector<WordList*> scoring_;  // most valuable first
  std::vector<Phrase> phrases_;

  // Block bounds are units / 2^shift_; slack_ is the number of times they were rounded down.
  uint32_t shift_ = 0;
  uint64_t slack_ = 0;
  uint16_t bound_max_ = 0;
  std::vector<uint16_t> bounds_;
  // live documents with all required words; empty if none is required
  std::vector<uint64_t> masks_;
  alignas(64) std::array<ScoreUnits, kDocumentBlockSize> units_;

  // Candidates of the leading list and those chosen for scoring, each with room for 16 more.
  size_t candidate_count_ = 0;
  std::unique_ptr<uint32_t[]> ordinals_;
  std::unique_ptr<ScoreUnits[]> candidate_units_;
  std::unique_ptr<uint32_t[]> chosen_;
  std::unique_ptr<ScoreUnits[]> chosen_units_;

  // Documents whose phrases are not checked yet.
  std::vector<Pending> pending_;
  uint64_t checked_ = 0;  // number of documents checked so far
};

}  // namespace search::index
