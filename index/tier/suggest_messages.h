// Converts between the messages of suggest.proto and the index core's plain values.
//
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <vector>

#include "index/suggest/spelling.h"
#include "index/suggest/suggestion_index.h"
#include "index/tier/suggest.pb.h"

namespace search::index {

Suggestion ToMessage(const Completion& completion, uint32_t prefix_index);
Completion FromMessage(const Suggestion& suggestion);

SpellQuery ToMessage(const std::vector<SpelledWord>& words);
std::vector<SpelledWord> FromMessage(const SpellQuery& query);

SpellAnswer ToMessage(const Spellings& spellings);
// The answer may be anything, since another node made it: takes no more words, replacements, splits
// and pairs than FindSpellings returns for a query of kSpelledWordsMax words, and no pair of a word
// that there is not.
Spellings FromMessage(const SpellAnswer& answer);

}  // namespace search::index
