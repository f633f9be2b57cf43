// Documents that may match a flat query, with the units known so far: collected from the lists that
// lead, then filtered by the other lists.
//
// Threads: thread-compatible; lives for one search.
// Shapes: ordinals ascend; units()[i] belongs to ordinals()[i].
// Limits: 8 bytes per posting of the lists that lead, twice that while lists are merged.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "index/core/search/block_kernels.h"
#include "index/core/search/query_words.h"
#include "index/core/search/word_list.h"

namespace search::index {

class Candidates {
 public:
  explicit Candidates(Evaluation* evaluation) : kernels_(Kernels()), evaluation_(evaluation) {}

  size_t count() const { return count_; }
  const uint32_t* ordinals() const { return ordinals_.get(); }
  const ScoreUnits* units() const { return units_.get(); }

  // Adds the documents of a list. REQUIRES: the list is decoded; nothing was filtered yet.
  void Add(const WordList& list);

  // Keeps the live documents that match `words`: those that hold the required words and any
  // alternative, and no excluded word. Adds the units of the lists that are not dense.
  // REQUIRES: all candidates hold the rarest required word, or an alternative if none is required.
  void Filter(const QueryWords& words);
  // Keeps the candidates that are in the list (`wanted`) or not in it (not `wanted`).
  void Keep(WordList* list, bool wanted);
  // Adds the units of those of the lists that are not dense.
  void AddSparseUnits(QueryWords::Lists lists);

 private:
  void Collect(const WordList& list);
  void Merge(const WordList& list);
  void KeepInAny(QueryWords::Lists lists);
  // Adds the units of a list that is not dense to the candidates that it holds, and calls found(i,
  // holds) for each candidate i.
  template <typename Found>
  void Meet(WordList* list, Found found);

  const BlockKernels& kernels_;
  Evaluation* evaluation_;
  size_t count_ = 0;
  // With room for kKernelRoom more.
  std::unique_ptr<uint32_t[]> ordinals_;
  std::unique_ptr<ScoreUnits[]> units_;
};

}  // namespace search::index
