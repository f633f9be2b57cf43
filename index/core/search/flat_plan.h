// The flat form of a query, which is evaluated block by block: words that a document must, may or
// must not hold, alternatives of which it must hold one, and phrases of required words. Nearly all
// queries have a flat form; the rest (nested brackets, title:word, excluded phrases) is left to
// DocumentRanker.
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
    kAlternative,  // a document holds at least one of all the alternatives
    kOptional,     // only adds to scores
    kExcluded,
  };
  struct Word {
    PlanLeaf leaf;
    Role role = Role::kRequired;
    uint32_t occurrences = 0;  // 0: does not score
  };
  struct Phrase {
    std::vector<uint32_t> words;      // indices of required words
    std::vector<uint32_t> positions;  // their positions in the phrase, in the same order
    uint32_t distance = 0;            // as in PlanNode
  };

  std::vector<Word> words;
  std::vector<Phrase> phrases;
};

// The flat form of the plan; nullopt if it has none.
std::optional<FlatPlan> Flatten(const QueryPlan& plan);

}  // namespace search::index
