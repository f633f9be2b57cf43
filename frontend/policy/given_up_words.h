// Words that the user wanted and that results of a page lack, and the questions that demand them.
//
// No I/O, no clock.
// Threads: pure functions.
// Limits: the first index::kLackableWordsMax scoring words of a query are considered, and results
//   that the second ranking phase rated; at most kGivenUpWordsMax words are named.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/model/answer.h"
#include "index/core/query/scoring_words.h"

namespace search::frontend {

inline constexpr size_t kGivenUpWordsMax = 8;

// Sets SearchResult::lacks of the results from their bits, and SearchAnswer::given_up. Both name
// wanted words only: what was demanded is never given up. A word and its synonyms are one word.
// `words` are those of the parsed question. A word that no question can demand is in lacks only, as
// all words of running text and of a question whose demands are unmet.
void NameGivenUpWords(const std::vector<index::ScoringWord>& words, SearchAnswer* answer);

// A question that finds those documents of `question` that hold the word: with a plus sign before
// the word where it stands alone, else with the word demanded before a bracket around the question.
// Empty if neither demands it.
std::string Demanding(std::string_view question, const index::ScoringWord& word);

}  // namespace search::frontend
