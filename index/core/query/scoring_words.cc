#include "index/core/query/scoring_words.h"

#include <map>
#include <utility>

namespace search::index {
namespace {

class WordList {
 public:
  void Add(const std::string& term, const QueryNode& leaf) {
    const bool title_only = leaf.field == QueryField::kTitle;
    const auto [at, is_new] = index_.try_emplace({term, title_only}, words_.size());
    if (is_new) words_.push_back({term, title_only, 0});
    words_[at->second].occurrences += leaf.occurrences;
  }
  std::vector<ScoringWord> Take() { return std::move(words_); }

 private:
  std::map<std::pair<std::string, bool>, size_t> index_;
  std::vector<ScoringWord> words_;
};

}  // namespace

std::vector<ScoringWord> ScoringWords(const Query& query) {
  WordList words;
  for (const QueryNode* leaf : PositiveLeaves(query)) {
    if (leaf->kind == QueryNode::Kind::kTerm) words.Add(leaf->term, *leaf);
    for (const PhraseTerm& word : leaf->phrase) words.Add(word.term, *leaf);
  }
  return words.Take();
}

}  // namespace search::index
