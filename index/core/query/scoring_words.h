// The words of a query that score, each once.
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
  bool title_only = false;   // the same word in any field is another
  uint32_t occurrences = 0;  // in the query, in phrases too
};

// In the order in which the query says them first; none of exclusions and sites. Depends on the
// query alone, not on what an index holds.
std::vector<ScoringWord> ScoringWords(const Query& query);

}  // namespace search::index
