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
Spellings FromMessage(const SpellAnswer& answer);

}  // namespace search::index
