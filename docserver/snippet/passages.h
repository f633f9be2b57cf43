// Chooses the passages of a text that a snippet shows.
//
// Threads: pure functions.
// Units: bytes of text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "docserver/snippet/query_terms.h"

namespace search::docserver {

// Position of a unit of the query in the text.
struct Occurrence {
  size_t begin;
  size_t end;
  int unit;
};

// A range of text; budget is the maximum size of it together with the text around it.
struct Passage {
  size_t begin;
  size_t end;
  size_t budget;
};

// Weights of the units: a phrase outweighs all single words together; a single word that is rare in
// this text weighs up to twice as much as a frequent one.
std::vector<double> UnitWeights(const QueryTerms& terms,
                                const std::vector<Occurrence>& occurrences);

// Returns non-overlapping passages, sorted by begin, with the greatest weight of distinct units;
// ties are broken by fewer passages, then units closer together, then earlier passages. Every
// passage fits its budget, unless every occurrence is longer than the budget: then it is the first
// occurrence. The budgets add up to at most size_max - separator_size * (passages + 1). Empty if
// there are no occurrences. REQUIRES: occurrences sorted by begin; count_max >= 1. Cost:
// O(occurrences · occurrences in a passage · count_max²).
std::vector<Passage> ChoosePassages(const std::vector<Occurrence>& occurrences,
                                    const std::vector<double>& weights, size_t size_max,
                                    size_t separator_size, size_t count_max);

}  // namespace search::docserver
