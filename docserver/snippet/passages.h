// Chooses which stretches of a text a snippet shows.
//
// Pure functions of the occurrences found.
// Threads: pure functions.
// Units: bytes of text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "docserver/snippet/query_terms.h"

namespace search::docserver {

// Where a unit of the query stands in the text.
struct Occurrence {
  size_t begin;
  size_t end;
  int unit;
};

// A stretch of text; budget is what it and the text around it may take.
struct Passage {
  size_t begin;
  size_t end;
  size_t budget;
};

// Weights of the units: a phrase outweighs all single words together; among single words one that
// is rare in this text weighs more, at most double.
std::vector<double> UnitWeights(const QueryTerms& terms,
                                const std::vector<Occurrence>& occurrences);

// The passages, by begin and not overlapping, that hold the greatest weight of distinct units; with
// equal weight fewer passages, then units closer together, then earlier ones. Every passage fits
// its budget, unless every occurrence is longer than it: then it is the first one. The budgets add
// up to at most size_max less separator_size for each passage and one more. Empty without
// occurrences. REQUIRES: occurrences sorted by begin; count_max >= 1. Cost: O(occurrences ·
// occurrences in a passage · count_max²).
std::vector<Passage> ChoosePassages(const std::vector<Occurrence>& occurrences,
                                    const std::vector<double>& weights, size_t size_max,
                                    size_t separator_size, size_t count_max);

}  // namespace search::docserver
