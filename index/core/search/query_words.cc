#include "index/core/search/query_words.h"

#include <algorithm>
#include <utility>

#include "index/core/search/block_kernels.h"

namespace search::index {

using Role = FlatPlan::Role;

QueryWords::QueryWords(const FlatPlan& plan, bool scores, Evaluation* evaluation)
    : evaluation_(evaluation) {
  lists_.reserve(plan.words.size());
  for (const FlatPlan::Word& word : plan.words) {
    lists_.emplace_back(word.leaf, scores ? word.occurrences : 0, evaluation);
    WordList* const list = &lists_.back();
    if (word.role == Role::kRequired) required_.push_back(list);
    if (word.role == Role::kAlternative) alternatives_.push_back(list);
    if (word.is_lead) leads_.push_back(list);
    if (word.role == Role::kOptional) optional_.push_back(list);
    if (word.role == Role::kExcluded) excluded_.push_back(list);
    if (list->scores()) scoring_.push_back(list);
  }
  // Sparse lists have fewer documents than dense ones, unless the file is damaged.
  std::stable_sort(required_.begin(), required_.end(), [](const WordList* a, const WordList* b) {
    return std::pair(a->is_dense(), a->document_frequency()) <
           std::pair(b->is_dense(), b->document_frequency());
  });
}

void QueryWords::Decode(Lists lists) {
  for (WordList* list : lists) {
    if (!list->is_dense()) list->Decode();
  }
}

void QueryWords::Rewind() {
  for (WordList& list : lists_) list.Rewind();
}

ScoreUnits QueryWords::KnownBar(size_t k) const {
  if (!excluded_.empty() || evaluation_->live_words() != nullptr) return 0;
  ScoreUnits bar = 0;
  if (required_.empty()) {
    for (const WordList* list : alternatives_) {
      // A document may hold the word and not the phrase.
      const bool is_lead = std::find(leads_.begin(), leads_.end(), list) != leads_.end();
      if (!is_lead) bar = std::max(bar, list->BestUnits(k));
    }
  } else if (required_.size() == 1 && alternatives_.empty()) {
    bar = required_[0]->BestUnits(k);
  }
  return bar;
}

std::vector<WordList*> QueryWords::EssentialAlternatives(const TopKQueue& queue) const {
  std::vector<WordList*> lists = alternatives_;
  std::stable_sort(lists.begin(), lists.end(), [](const WordList* a, const WordList* b) {
    return a->units_max() < b->units_max();
  });
  uint64_t units = evaluation_->space().static_rank_units_max;
  for (const WordList* list : optional_) units += list->units_max();
  size_t inessential = 0;
  for (; inessential < lists.size(); ++inessential) {
    units += lists[inessential]->units_max();
    if (queue.CanEnter(units)) break;
  }
  lists.erase(lists.begin(), lists.begin() + static_cast<ptrdiff_t>(inessential));
  return lists;
}

void QueryWords::MakeOptionalExcept(Lists essential) {
  for (WordList* list : alternatives_) {
    if (std::find(essential.begin(), essential.end(), list) == essential.end()) {
      optional_.push_back(list);
    }
  }
}

std::vector<uint64_t> QueryWords::IntersectRequired() const {
  const BlockKernels& kernels = Kernels();
  const size_t block_count = evaluation_->space().impacts.block_count();
  const uint64_t* first = required_[0]->dense().documents;
  std::vector<uint64_t> masks(first, first + block_count);
  for (size_t i = 1; i < required_.size(); ++i) {
    kernels.intersect(required_[i]->dense().documents, block_count, masks.data());
    evaluation_->ShouldStop(static_cast<uint32_t>(block_count / 16));
  }
  const uint64_t* live = evaluation_->live_words();
  if (live != nullptr) kernels.intersect(live, block_count, masks.data());
  return masks;
}

void QueryWords::OrderScoring() {
  std::stable_sort(scoring_.begin(), scoring_.end(), [](const WordList* a, const WordList* b) {
    return a->units_max() > b->units_max();
  });
}

void QueryWords::DropSparseScoring() {
  std::erase_if(scoring_, [](const WordList* list) { return !list->is_dense(); });
}

}  // namespace search::index
