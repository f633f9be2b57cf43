// What a question still wants if nothing has all that it demands: any of its words.
//
//   +stash "hash map" site:git -java   becomes   (stash OR hash OR map) site:git -java
//
// Filters and exclusions stay. Words of titles may stand anywhere, and common words are left out
// if others remain.
//
// No I/O.
// Threads: pure function.
// Limits: at most kDemandsMax demands are named, each in about kDemandSizeMax bytes.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "index/core/query/query.h"

namespace search::index {

inline constexpr size_t kDemandsMax = 8;
inline constexpr size_t kDemandSizeMax = 80;

struct Relaxation {
  // With the notes and parts of the question.
  Query query;
  // What the question demands, in its order, as a user would type it: `stash`, `"hash map"`. Never
  // empty.
  std::vector<std::string> demands;
};

// The relaxed question; nullopt if the question demands nothing that can be given up, so that it
// would be the same. `query` may have synonyms, which stay synonyms.
std::optional<Relaxation> Relax(const Query& query);

}  // namespace search::index
