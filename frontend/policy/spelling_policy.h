// Decides by the numbers of documents with each word whether another spelling of a question is
// looked for, and what becomes of it.
//
//   a word of the question      another spelling
//   in many documents           is not looked for, which costs nothing
//   in hardly any               is offered, if it is far more frequent: "Did you mean ...?"
//   in none                     is searched at once if it is sure, else offered
//   and nothing is found        is searched at once, unless the search was cut for lack of time
//
// No I/O, no clock.
// Threads: pure functions.
// Limits: those of index::WordsToSpell. A question with more than kDoubtfulWordsMax doubtful words
//   is taken as it is: it is in another language, or of no words.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/model/answer.h"
#include "index/core/query/scoring_words.h"
#include "index/suggest/spelling.h"
#include "index/tier/tier.pb.h"

namespace search::frontend {

inline constexpr size_t kDoubtfulWordsMax = 8;

// Number of documents of both tiers that hold each scoring word; empty: not known. If tier 2 did
// not answer, its numbers are those that tier 1 knows.
std::vector<uint64_t> WordCounts(const index::TierAnswer& hits, bool has_tier2);

// The words of the question, of which only those may change that at most `documents_max` documents
// hold and that are not part of an exclusion or a common word that is left out. Words that some
// documents hold may change only if they are not demanded. Empty if nothing may change.
// `words` are those of the parsed question, `counts` their WordCounts.
std::vector<index::SpelledWord> DoubtfulWords(std::string_view question,
                                              const std::vector<index::ScoringWord>& words,
                                              const std::vector<uint64_t>& counts,
                                              uint64_t documents_max);

// True if a word that may change is in no document, so that its correction may replace the answer.
bool HasUnknownWord(const std::vector<index::SpelledWord>& words);

enum class SpellingUse {
  kOffer,    // a link beside the results
  kReplace,  // its results are shown instead, if it has any
};

// What becomes of another spelling of the question that got this answer.
SpellingUse UseOfSpelling(const index::SpelledQuery& spelled, const SearchAnswer& answer);

}  // namespace search::frontend
