#include "docserver/snippet/query_terms.h"

namespace search::docserver {

using index::QueryField;
using index::QueryNode;

QueryTerms::QueryTerms(const index::Query& query) {
  for (const QueryNode* leaf : index::PositiveLeaves(query)) {
    if (leaf->field == QueryField::kTitle) continue;
    if (leaf->kind == QueryNode::Kind::kTerm) {
      AddWord(leaf->term);
      continue;
    }
    if (leaf->kind == QueryNode::Kind::kPrefix) {
      AddPrefix(*leaf);
      continue;
    }
    if (leaf->kind == QueryNode::Kind::kNear) {
      for (const index::PhraseTerm& word : leaf->phrase) AddWord(word.term);
      continue;
    }
    Phrase phrase;
    for (const index::PhraseTerm& word : leaf->phrase) {
      phrase.words.push_back({Number(word.term), word.position});
    }
    phrase.unit = NewUnit(/*is_phrase=*/true);
    phrases_.push_back(std::move(phrase));
  }
  // Words that are only in phrases also count as words with the prefix.
  for (const auto& [term, number] : numbers_) {
    int& unit = single_units_[static_cast<size_t>(number)];
    const int of_prefix = unit == kNoUnit ? FindPrefix(term) : kNoTerm;
    if (of_prefix != kNoTerm) unit = UnitOf(of_prefix);
  }
}

void QueryTerms::AddWord(std::string_view term) {
  int& unit = single_units_[static_cast<size_t>(Number(term))];
  if (unit == kNoUnit) unit = NewUnit(/*is_phrase=*/false);
}

void QueryTerms::AddPrefix(const QueryNode& leaf) {
  prefixes_.push_back({leaf.term, leaf.folded, static_cast<int>(single_units_.size())});
  single_units_.push_back(NewUnit(/*is_phrase=*/false));
  first_bytes_.set(static_cast<uint8_t>(leaf.term[0]));
  if (!leaf.folded.empty()) first_bytes_.set(static_cast<uint8_t>(leaf.folded[0]));
}

int QueryTerms::Number(std::string_view term) {
  const auto [entry, is_new] = numbers_.try_emplace(term, static_cast<int>(single_units_.size()));
  if (is_new) {
    single_units_.push_back(kNoUnit);
    first_bytes_.set(static_cast<uint8_t>(term[0]));
  }
  return entry->second;
}

int QueryTerms::NewUnit(bool is_phrase) {
  if (units_.size() < kUnitCountMax) units_.push_back(is_phrase);
  return static_cast<int>(units_.size()) - 1;
}

}  // namespace search::docserver
