#include "index/core/query/scoring_words.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace search::index {
namespace {

class WordList {
 public:
  void Add(const std::string& term, const std::string& surface, const QueryNode& leaf) {
    const bool title_only = leaf.field == QueryField::kTitle;
    const auto [at, is_new] = index_.try_emplace({term, title_only}, words_.size());
    if (is_new) {
      words_.push_back({.term = term, .title_only = title_only, .is_synonym = true});
    }
    ScoringWord& word = words_[at->second];
    word.occurrences += leaf.occurrences;
    word.percent = std::max(word.percent, leaf.percent);
    if (!leaf.synonym_of.term.empty()) {
      synonyms_[{leaf.synonym_of.term, title_only, leaf.synonym_of.number}].push_back(at->second);
      return;
    }
    if (word.is_synonym) word.surface = surface;
    word.is_wanted = leaf.is_wanted && (word.is_synonym || word.is_wanted);
    word.is_synonym = false;
  }

  std::vector<ScoringWord> Take() {
    for (auto& [synonym, words] : synonyms_) {
      const auto of = index_.find({std::get<0>(synonym), std::get<1>(synonym)});
      if (of != index_.end()) words_[of->second].synonyms.push_back(std::move(words));
    }
    return std::move(words_);
  }

 private:
  std::map<std::pair<std::string, bool>, size_t> index_;
  // Words of each synonym, by what it stands for, whether in titles only, and its number.
  std::map<std::tuple<std::string, bool, uint32_t>, std::vector<size_t>> synonyms_;
  std::vector<ScoringWord> words_;
};

}  // namespace

std::vector<ScoringWord> ScoringWords(const Query& query) {
  WordList words;
  for (const QueryNode* leaf : PositiveLeaves(query)) {
    if (leaf->kind == QueryNode::Kind::kTerm) words.Add(leaf->term, leaf->surface, *leaf);
    for (const PhraseTerm& word : leaf->phrase) words.Add(word.term, word.surface, *leaf);
  }
  return words.Take();
}

}  // namespace search::index
