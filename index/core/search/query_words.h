// The word lists of a flat query by role, and what single lists imply about the best documents.
//
// Source: thresholds from k-th best scores of single words [Kane18].
// Threads: thread-compatible; lives for one search.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/core/search/flat_plan.h"
#include "index/core/search/top_k_queue.h"
#include "index/core/search/word_list.h"

namespace search::index {

class QueryWords {
 public:
  using Lists = std::span<WordList* const>;

  // `scores` false: no word scores, because documents are only counted.
  QueryWords(const FlatPlan& plan, bool scores, Evaluation* evaluation);
  QueryWords(const QueryWords&) = delete;
  QueryWords& operator=(const QueryWords&) = delete;

  // The list of the plan's i-th word.
  WordList* list(uint32_t i) { return &lists_[i]; }
  Lists required() const { return required_; }  // rarest first
  Lists alternatives() const { return alternatives_; }
  Lists optional() const { return optional_; }
  Lists excluded() const { return excluded_; }
  Lists scoring() const { return scoring_; }

  // True if some word is required, and the rarest such word is not dense.
  bool rarest_is_sparse() const { return !required_.empty() && !required_[0]->is_dense(); }
  // Decodes the lists that are not dense.
  static void Decode(Lists lists);
  void Rewind();

  // A threshold that at least k documents with these words reach, derived from single lists; 0 if
  // unknown. REQUIRES: k > 0; lists that are not dense and may lead were decoded.
  ScoreUnits KnownBar(size_t k) const;
  // A subset of the alternatives such that every document that can enter the queue holds at least
  // one of them.
  std::vector<WordList*> EssentialAlternatives(const TopKQueue& queue) const;
  // Treats the alternatives that are not `essential` as optional words.
  void MakeOptionalExcept(Lists essential);

  // Bitmap of the live documents that hold all required words.
  // REQUIRES: a word is required, and all required lists are dense.
  std::vector<uint64_t> IntersectRequired() const;

  // Orders scoring() by the most that a list can add, most valuable first.
  void OrderScoring();
  // Leaves only dense lists in scoring().
  void DropSparseScoring();

 private:
  Evaluation* evaluation_;
  std::vector<WordList> lists_;
  std::vector<WordList*> required_;
  std::vector<WordList*> alternatives_;
  std::vector<WordList*> leads_;  // those of the alternatives that lead phrases
  std::vector<WordList*> optional_;
  std::vector<WordList*> excluded_;
  std::vector<WordList*> scoring_;
};

}  // namespace search::index
