// The distinct scoring words of a query, and the synonyms among them.
//
// Threads: pure function.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "index/core/query/query.h"

namespace search::index {

struct ScoringWord {
  std::string term;
  bool title_only = false;   // the same word in any field is a separate word
  uint32_t occurrences = 0;  // number of occurrences in the query, including phrases
  uint32_t percent = 0;      // largest share of an occurrence
  // The user did not write the word: SynonymSets added every occurrence.
  bool is_synonym = false;
  // True if every occurrence that the user wrote is wanted and not demanded
  // (QueryNode::is_wanted).
  bool is_wanted = false;
  std::string surface = {};  // its first occurrence that the user wrote, as typed
  // Synonyms of the word: a document with all words of one of them does not lack the word. Each is
  // a list of indexes of scoring words.
  std::vector<std::vector<size_t>> synonyms = {};
};

// Words in the order of their first occurrence in the query, without words of exclusions and sites.
// Depends on the query alone, not on an index.
std::vector<ScoringWord> ScoringWords(const Query& query);

}  // namespace search::index
