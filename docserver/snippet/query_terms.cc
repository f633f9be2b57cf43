#include "docserver/snippet/query_terms.h"

#include <algorithm>

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
    AddPhrase(*leaf);
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

void QueryTerms::AddPhrase(const QueryNode& leaf) {
  Phrase phrase;
  for (const index::PhraseTerm& word : leaf.phrase) {
    phrase.words.push_back({Number(word.term), word.position});
  }
  phrase.unit = NewUnit(/*is_phrase=*/true);
  phrase_span_max_ = std::max<uint64_t>(
      phrase_span_max_, phrase.words.back().position - phrase.words.front().position);
  phrases_.push_back(std::move(phrase));
}

void QueryTerms::AddPrefix(const QueryNode& leaf) {
  prefixes_.push_back({leaf.term, leaf.folded, static_cast<int>(single_units_.size())});
  single_units_.push_back(NewUnit(/*is_phrase=*/false));
  first_bytes_.set(static_cast<uint8_t>(leaf.term[0]));
  wanted_.AddPrefix(leaf.term);
  if (leaf.folded.empty()) return;
  first_bytes_.set(static_cast<uint8_t>(leaf.folded[0]));
  wanted_.AddTerm(leaf.folded);
}

int QueryTerms::Number(std::string_view term) {
  const auto [entry, is_new] = numbers_.try_emplace(term, static_cast<int>(single_units_.size()));
  if (is_new) {
    single_units_.push_back(kNoUnit);
    first_bytes_.set(static_cast<uint8_t>(term[0]));
    wanted_.AddTerm(term);
  }
  return entry->second;
}

int QueryTerms::NewUnit(bool is_phrase) {
  if (units_.size() < kUnitCountMax) units_.push_back(is_phrase);
  return static_cast<int>(units_.size()) - 1;
}

}  // namespace search::docserver
