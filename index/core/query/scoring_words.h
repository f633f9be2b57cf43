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
  bool title_only = false;   // title:word and word are different words
  uint32_t occurrences = 0;  // in the query, phrases included
};

// In the order of first occurrence in the query; excludes words of exclusions and sites. Depends on
// the query alone, not on the contents of an index.
std::vector<ScoringWord> ScoringWords(const Query& query);

}  // namespace search::index
