// The form of query that is evaluated by document blocks: words that a document must, may or must
// not hold, alternatives of which it must hold one, and phrases among the words it must hold.
// Nearly all queries have it; what remains (nested brackets, title:word, excluded phrases) is left
// to DocumentRanker.
//
// Threads: plain values.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "index/core/search/query_plan.h"

namespace search::index {

struct FlatPlan {
  enum class Role : uint8_t {
    kRequired,
    kAlternative,  // a document holds at least one of all that there are
    kOptional,     // only adds to scores
    kExcluded,
  };
  struct Word {
    PlanLeaf leaf;
    Role role = Role::kRequired;
    uint32_t occurrences = 0;  // 0: does not score
  };
  struct Phrase {
    std::vector<uint32_t> words;      // numbers of required words
    std::vector<uint32_t> positions;  // theirs, in the same order
  };

  std::vector<Word> words;
  std::vector<Phrase> phrases;
};

// The plan's flat form, if it has one.
std::optional<FlatPlan> Flatten(const QueryPlan& plan);

}  // namespace search::index
