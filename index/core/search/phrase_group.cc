#include "index/core/search/phrase_group.h"

#include <algorithm>
#include <utility>

namespace search::index {

PhraseGroup::PhraseGroup(const FlatPlan& plan, QueryWords* words, Evaluation* evaluation) {
  for (const FlatPlan::Phrase& phrase : plan.phrases) {
    std::vector<PlanLeaf> leaves;
    std::vector<WordList*> lists;
    for (const uint32_t word : phrase.words) {
      leaves.push_back(plan.words[word].leaf);
      lists.push_back(words->list(word));
    }
    phrases_.push_back(
        {std::move(lists), PhraseCheck(leaves, phrase.positions, phrase.distance, evaluation), {}});
  }
}

void PhraseGroup::Load(std::span<const uint32_t> ordinals) {
  for (const uint32_t ordinal : ordinals) {
    for (const Phrase& phrase : phrases_) {
      for (const WordList* list : phrase.words) list->PrefetchPosting(ordinal);
    }
  }
  for (Phrase& phrase : phrases_) {
    const size_t width = phrase.words.size();
    phrase.postings.resize(ordinals.size() * width);
    for (size_t i = 0; i < ordinals.size(); ++i) {
      for (size_t word = 0; word < width; ++word) {
        phrase.postings[i * width + word] = phrase.words[word]->PostingOf(ordinals[i]);
      }
    }
    for (const int step : {0, 1, 2}) {
      for (size_t i = 0; i < ordinals.size(); ++i) {
        phrase.check.Prefetch(PostingsOf(phrase, i), step);
      }
    }
  }
}

bool PhraseGroup::Matches(size_t i) {
  return std::all_of(phrases_.begin(), phrases_.end(),
                     [i](Phrase& phrase) { return phrase.check.Matches(PostingsOf(phrase, i)); });
}

}  // namespace search::index
