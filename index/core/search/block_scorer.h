// Scores document blocks: bounds all blocks first, then scores the blocks with the best bounds,
// then the others that can still hold a hit. A block's 64 documents are scored at once.
//
// Source: candidates by block bounds [Dimopoulos13] [Mallia21].
// Departs from source: the best-bounded candidates are scored first, in the order of documents.
// Threads: thread-compatible; lives for one search.
// Limits: memory is 2 bytes per document block, 8 more if words are required, and 8 bytes per
//   posting of lists that are not dense.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/core/search/block_bounds.h"
#include "index/core/search/block_kernels.h"
#include "index/core/search/hit_collector.h"
#include "index/core/search/query_words.h"

namespace search::index {

class BlockScorer {
 public:
  // REQUIRES: the required lists are dense; the others that are not were decoded.
  BlockScorer(QueryWords* words, Evaluation* evaluation, HitCollector* hits);

  // Offers each matching document that can enter the top k.
  void Run();

 private:
  uint16_t LeastBound() const { return bounds_.Least(hits_->least()); }
  std::vector<uint32_t> FindBlocks();
  void ScoreBlocks(std::span<const uint32_t> blocks, bool best, uint16_t cut);
  void PrefetchLists(uint32_t block) const;
  void PrefetchImpacts(uint32_t block) const;
  void ScoreBlock(uint32_t block);
  uint64_t MatchesIn(uint32_t block, bool has_bar);
  void AddUnits(uint32_t block);

  QueryWords* words_;
  Evaluation* evaluation_;
  HitCollector* hits_;
  const SearchSpace& space_;
  const BlockKernels& kernels_;
  const uint64_t* live_;  // bitmap of the documents that may match; nullptr: all
  const BlockBounds bounds_;
  // Live documents that hold all required words; empty if none is required.
  std::vector<uint64_t> masks_;
  alignas(64) std::array<ScoreUnits, kDocumentBlockSize> units_;
};

}  // namespace search::index
