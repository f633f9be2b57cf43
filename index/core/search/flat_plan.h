// The flat form of a query, which is evaluated block by block: words that a document must, may or
// must not hold, alternatives of which it must hold one, and phrases of required words. Nearly all
// queries have a flat form; the rest (nested brackets, title:word, excluded phrases) is left to
// DocumentRanker.
//
// A phrase may be an alternative too, as a synonym of several words is: `utf8 OR "utf 8"`. Its
// rarest word then leads: it is listed as an alternative, so that all documents that match hold
// one, and any_of says which of those that do match.
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
    // kAlternative: leads a phrase of any_of, so that a document that holds it may not match.
    bool is_lead = false;
  };
  struct Phrase {
    std::vector<uint32_t> words;      // indices of words, of `phrases` those of required ones
    std::vector<uint32_t> positions;  // their positions in the phrase, in the same order
    uint32_t distance = 0;            // as in PlanNode
  };

  // A document holds at least one of these words or phrases.
  struct AnyOf {
    std::vector<uint32_t> words;  // indices of alternatives
    std::vector<Phrase> phrases;  // empty: the roles of the words say all
  };

  std::vector<Word> words;
  std::vector<Phrase> phrases;
  AnyOf any_of;
};

// The flat form of the plan; nullopt if it has none.
std::optional<FlatPlan> Flatten(const QueryPlan& plan);

}  // namespace search::index
