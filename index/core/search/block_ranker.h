// Ranks a flat query by document blocks: bounds first, then the most promising blocks or documents,
// then what is left over the bar that these have set.
//
//   the rarest required word is dense, or none is required:
//     bounds of all blocks (sums of block maxima) ──▶ blocks over the bar ──▶ best-bounded, then rest
//   else, the rarest required word's documents are few:
//     its documents ──▶ sieved by the other lists ──▶ bounds ──▶ best-bounded, then rest
//   phrases: documents by descending score, each checked as its turn comes
//
// Source: candidates by block bounds (Dimopoulos, Nepomnyachiy, Suel 2013; Mallia, Siedlaczek, Suel
//   2021); the bar is raised beforehand by k-th best scores of single words (Kane and Tompa 2018).
// Departs from source: blocks are scored best-bounded first, in two passes by document within each.
// Layer: index/core, search.
// Threads: thread-compatible; lives for one search.
// Limits: memory is 2 bytes a document block, 8 where words are required, and 8 a posting of lists
//   that are not dense.

#pragma once

#include <array>
#include <cstdint>
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
  BlockRanker(const FlatPlan& plan, Evaluation* evaluation, TopKQueue* queue);
  BlockRanker(const BlockRanker&) = delete;
  BlockRanker& operator=(const BlockRanker&) = delete;

  RankingOutcome Run();

 private:
  struct Phrase {
    std::vector<const WordList*> words;
    std::vector<PostingCursor*> cursors;
    PhraseCheck check;
  };

  void AddPhrases(const FlatPlan& plan);
  // A bar that at least k matching documents reach, from what single lists know; 0 if none is known.
  ScoreUnits KnownBar() const;

  // By document blocks.
  void RankBlocks();
  void BoundBlocks();
  void AddSparseBounds(WordList* list);
  void ScoreBlocks(std::span<const uint32_t> blocks, bool best, uint16_t cut);
  void PrefetchBlock(uint32_t block) const;
  void PrefetchImpacts(uint32_t block) const;
  void ConsiderBlock(uint32_t block);
  void ConsiderFew(uint32_t block, uint64_t documents);
  // Adds up the units of all lists; false if no document can reach the bar.
  bool AddUnits(uint32_t block);
  uint64_t Excluded(uint32_t block);
  uint64_t Alternatives(uint32_t block);
  uint16_t LeastBound() const;
  void RewindLists();

  // By documents of the rarest required word.
  void RankDocuments();
  void Sieve();
  void KeepMembers(WordList* list);
  void DropMembers(WordList* list);
  // Adds the units of a list that is not dense where it holds the document, and calls
  // found(i, whether it does).
  template <typename Found>
  void Meet(WordList* list, Found found);
  void KeepAlternatives();
  void ScoreDocuments();
  void ConsiderDocument(uint32_t ordinal, ScoreUnits units, uint64_t bound);

  void Offer(uint32_t ordinal, uint64_t units);
  void CheckPending();
  bool MatchesPhrases(uint32_t ordinal);

  const SearchSpace& space_;
  const BlockKernels& kernels_;
  Evaluation* evaluation_;
  TopKQueue* queue_;
  const uint64_t* live_;  // bitmap of the documents that may match; nullptr: all
  RankingOutcome outcome_;

  std::vector<WordList> lists_;
  std::vector<WordList*> required_;  // rarest first
  std::vector<WordList*> alternatives_;
  std::vector<WordList*> optional_;
  std::vector<WordList*> excluded_;
  std::vector<WordList*> scoring_;  // most valuable first
  std::vector<Phrase> phrases_;

  // Bounds of blocks are units / 2^shift_, rounded down in slack_ places.
  uint32_t shift_ = 0;
  uint64_t slack_ = 0;
  std::vector<uint16_t> bounds_;
  std::vector<uint64_t> masks_;  // live documents of all required words; empty if none is required
  alignas(64) std::array<ScoreUnits, kDocumentBlockSize> units_;

  // Candidates of RankDocuments, with room for 16 more.
  size_t candidate_count_ = 0;
  std::vector<uint32_t> ordinals_;
  std::vector<ScoreUnits> candidate_units_;

  // Documents that wait for their phrases to be checked.
  std::vector<std::pair<ScoreUnits, uint32_t>> pending_;
};

}  // namespace search::index
