#include "index/core/search/alternatives_check.h"

#include <algorithm>
#include <utility>

namespace search::index {

AlternativesCheck::AlternativesCheck(const FlatPlan& plan, QueryWords* words,
                                     Evaluation* evaluation) {
  for (const FlatPlan::Phrase& phrase : plan.any_of.phrases) {
    std::vector<PlanLeaf> leaves;
    std::vector<WordList*> lists;
    for (const uint32_t word : phrase.words) {
      leaves.push_back(plan.words[word].leaf);
      lists.push_back(words->list(word));
    }
    phrases_.push_back(
        {std::move(lists), PhraseCheck(leaves, phrase.positions, phrase.distance, evaluation)});
  }
  if (phrases_.empty()) return;
  for (const uint32_t word : plan.any_of.words) words_.push_back(words->list(word));
}

bool AlternativesCheck::Matches(uint32_t ordinal) {
  return std::any_of(words_.begin(), words_.end(),
                     [&](WordList* list) { return list->FindPosting(ordinal).has_value(); }) ||
         std::any_of(phrases_.begin(), phrases_.end(),
                     [&](Phrase& phrase) { return Holds(&phrase, ordinal); });
}

bool AlternativesCheck::Holds(Phrase* phrase, uint32_t ordinal) {
  postings_.clear();
  for (WordList* list : phrase->words) {
    const std::optional<uint32_t> posting = list->FindPosting(ordinal);
    if (!posting.has_value()) return false;
    postings_.push_back(*posting);
  }
  return phrase->check.Matches(postings_);
}

}  // namespace search::index
