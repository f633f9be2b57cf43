// A query prepared for scanning texts: numbered terms, single terms to find, phrases, and the
// filter for words that cannot be one of them. Made once for all documents of a page.
//
// Threads: immutable; refers to the query, which must outlive it.
// Limits: kUnitCountMax units are distinguished; further units count as one.

#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "index/core/analysis/term_finder.h"
#include "index/core/query/query.h"

namespace search::docserver {

// A unit is what a passage can contain: a single word of the query, or a phrase as a whole.
inline constexpr size_t kUnitCountMax = 64;
using UnitMask = uint64_t;

class QueryTerms {
 public:
  static constexpr int kNoTerm = -1;
  static constexpr int kNoUnit = -1;

  struct PhraseWord {
    int term;
    uint32_t position;
  };
  struct Phrase {
    std::vector<PhraseWord> words;
    int unit;
  };

  // Terms restricted to the title are not looked for in the text.
  explicit QueryTerms(const index::Query& query);

  bool empty() const { return units_.empty(); }

  // The terms of all units, for index::TermFinder.
  const index::WantedTerms& wanted() const { return wanted_; }
  // The greatest distance of the positions of two words in a phrase; 0 without phrases.
  uint64_t phrase_span_max() const { return phrase_span_max_; }

  // The number of an analysed term, or kNoTerm. A term of the query has its own; others may have
  // that of a prefix.
  int Find(std::string_view term) const {
    if (!first_bytes_[static_cast<uint8_t>(term[0])]) return kNoTerm;
    const auto found = numbers_.find(term);
    return found == numbers_.end() ? FindPrefix(term) : found->second;
  }
  // The unit of a term that the query contains as a single word; kNoUnit if it is only in phrases.
  int UnitOf(int term) const { return single_units_[static_cast<size_t>(term)]; }

  const std::vector<Phrase>& phrases() const { return phrases_; }
  size_t unit_count() const { return units_.size(); }
  // True if the unit is a phrase. Units beyond kUnitCountMax share the last unit.
  bool IsPhrase(size_t unit) const { return units_[unit]; }

 private:
  // Terms that begin with `prefix`, and `word`, have the number `term`.
  struct Prefix {
    std::string_view prefix;
    std::string_view word;
    int term;
  };

  int FindPrefix(std::string_view term) const {
    for (const Prefix& one : prefixes_) {
      if (term.starts_with(one.prefix) || term == one.word) return one.term;
    }
    return kNoTerm;
  }
  void AddWord(std::string_view term);
  void AddPrefix(const index::QueryNode& leaf);
  int Number(std::string_view term);
  int NewUnit(bool is_phrase);
  void AddPhrase(const index::QueryNode& leaf);

  std::unordered_map<std::string_view, int> numbers_;
  std::bitset<256> first_bytes_;
  std::vector<int> single_units_;  // by term
  std::vector<Prefix> prefixes_;
  std::vector<Phrase> phrases_;
  std::vector<bool> units_;  // whether each is a phrase
  index::WantedTerms wanted_;
  uint64_t phrase_span_max_ = 0;
};

}  // namespace search::docserver
