#include "index/core/search/flat_count.h"

#include <utility>
#include <vector>

#include "index/core/search/block_kernels.h"
#include "index/core/search/candidates.h"
#include "index/core/search/query_words.h"

namespace search::index {
namespace {

uint64_t CountIntersection(WordList* a, WordList* b, Evaluation* evaluation) {
  if (a->is_dense() && b->is_dense()) {
    const size_t block_count = evaluation->space().impacts.block_count();
    evaluation->ShouldStop(static_cast<uint32_t>(block_count / 8));
    return Kernels().count_intersection(a->dense().documents, b->dense().documents, block_count);
  }
  if (a->is_dense() || (!b->is_dense() && a->document_frequency() > b->document_frequency())) {
    std::swap(a, b);
  }
  a->Decode();
  Candidates candidates(evaluation);
  candidates.Add(*a);
  candidates.Keep(b, true);
  return candidates.count();
}

// Counts the documents that hold all required words and no excluded one, all required lists being
// dense.
uint64_t CountBlocks(const QueryWords& words, Evaluation* evaluation) {
  std::vector<uint64_t> masks = words.IntersectRequired();
  for (WordList* list : words.excluded()) {
    if (list->is_dense()) {
      for (size_t i = 0; i < masks.size(); ++i) masks[i] &= ~list->dense().documents[i];
      continue;
    }
    list->Decode();
    for (const uint32_t ordinal : list->ordinals()) {
      masks[ordinal / kDocumentBlockSize] &= ~(uint64_t{1} << (ordinal % kDocumentBlockSize));
    }
  }
  evaluation->ShouldStop(static_cast<uint32_t>(masks.size() / 4));
  return Kernels().count(masks.data(), masks.size());
}

}  // namespace

std::optional<uint64_t> CountFlat(const FlatPlan& plan, Evaluation* evaluation) {
  const QueryWords words(plan, /*scores=*/false, evaluation);
  const bool none_is_excluded = words.excluded().empty() && evaluation->live_words() == nullptr;
  const QueryWords::Lists required = words.required();
  const QueryWords::Lists alternatives = words.alternatives();
  if (required.empty()) {
    if (alternatives.size() != 2 || !none_is_excluded) return std::nullopt;
    // The union of two lists is counted faster through the size of their intersection.
    return uint64_t{alternatives[0]->document_frequency()} + alternatives[1]->document_frequency() -
           CountIntersection(alternatives[0], alternatives[1], evaluation);
  }
  if (!words.rarest_is_sparse()) {
    if (!alternatives.empty()) return std::nullopt;
    if (required.size() == 2 && none_is_excluded) {
      return CountIntersection(required[0], required[1], evaluation);
    }
    return CountBlocks(words, evaluation);
  }
  required[0]->Decode();
  Candidates candidates(evaluation);
  candidates.Add(*required[0]);
  candidates.Filter(words);
  return candidates.count();
}

}  // namespace search::index
