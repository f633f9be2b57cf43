// The distinct scoring words of a query.
//
// Threads: pure function.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/core/query/query.h"

namespace search::index {

struct ScoringWord {
  std::string term;
  bool title_only = false;   // the same word in any field is a separate word
  uint32_t occurrences = 0;  // number of occurrences in the query, including phrases
};

// Words in the order of their first occurrence in the query, without words of exclusions and sites.
// Depends on the query alone, not on an index.
std::vector<ScoringWord> ScoringWords(const Query& query);

}  // namespace search::index
