// Adds to results how their scores came about.
//
// No I/O, no clock.
// Threads: pure function.

#pragma once

#include <vector>

#include "frontend/model/answer.h"
#include "index/core/query/scoring_words.h"
#include "index/tier/explain.pb.h"

namespace search::frontend {

// `explained`: of all partitions that answered; `is_complete`: these are all of both tiers. Sets
// the explanation of each result that is explained, and a note on those that are not. `words` are
// those of the query, for the spelling that the user typed.
void AdoptExplanations(const index::ExplainAnswer& explained, bool is_complete,
                       const std::vector<index::ScoringWord>& words, SearchAnswer* answer);

}  // namespace search::frontend
