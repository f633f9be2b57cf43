// Ranks a flat query by document blocks: computes bounds first, then scores the blocks or documents
// with the best bounds, then the others whose bounds exceed the threshold reached by then.
//
//   few documents can reach the top k: those of the rarest required word, or of the alternatives
//   that are not dense if the dense ones alone cannot reach the threshold
//     documents ──▶ filtered by the other lists ──▶ bounds ──▶ best-bounded, then the rest
//   otherwise
//     bounds of all blocks (sums of block maxima) ──▶ blocks over the threshold
//       ──▶ best-bounded, then the rest
//   phrases
//     documents by descending score, each checked in its turn
//
// Source: candidates by block bounds [Dimopoulos13] [Mallia21]; the threshold is raised beforehand
//   by k-th best scores of single words [Kane18].
// Departs from source: the best-bounded candidates are scored first, in the order of documents.
// Threads: thread-compatible; lives for one search.
// Limits: memory is 2 bytes per document block, 8 if words are required, and 8 bytes per posting of
//   lists that are not dense, 16 if they lead.

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

  // Number of matching documents, counted without ranking; nullopt if there is no fast way to count
  // them.
  // REQUIRES: no phrases. Called instead of Run.
  std::optional<uint64_t> Count();

 private:
  struct Phrase {
    std::vector<WordList*> words;
    PhraseCheck check;
    std::vector<uint32_t> postings;  // postings of the words, for each document of a group
  };
  struct Pending {
    ScoreUnits units;
    uint32_t ordinal;
    bool is_checked;
  };

  void AddPhrases(const FlatPlan& plan);
  // A threshold that at least k matching documents reach, derived from single lists; 0 if unknown.
  ScoreUnits KnownBar() const;
  // A subset of the alternatives such that every document of the top k holds at least one of them.
  std::vector<WordList*> EssentialAlternatives() const;

  uint64_t CountIntersection(WordList* a, WordList* b);
  uint64_t CountBlocks();

  // Evaluation by document blocks.
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

  // Evaluation by documents.
  void RankDocuments();
  void CollectDocuments(const WordList& list);
  void MergeDocuments(const WordList& list);
  void Sieve();
  void Keep(WordList* list, bool wanted);
  // Adds the units of a list that is not dense to the documents that it holds, and calls found(i,
  // holds) for each document i.
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
  // Live documents that hold all required words; empty if none is required.
  std::vector<uint64_t> masks_;
  alignas(64) std::array<ScoreUnits, kDocumentBlockSize> units_;

  // Candidate documents, with room for 16 more: those of the leading list, and those chosen for
  // scoring.
  size_t candidate_count_ = 0;
  std::unique_ptr<uint32_t[]> ordinals_;
  std::unique_ptr<ScoreUnits[]> candidate_units_;
  std::unique_ptr<uint32_t[]> chosen_;
  std::unique_ptr<ScoreUnits[]> chosen_units_;

  // Documents whose phrases are still to be checked.
  std::vector<Pending> pending_;
  uint64_t checked_ = 0;  // documents checked so far
};

}  // namespace search::index
