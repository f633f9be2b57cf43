// The words of a vocabulary within a small edit distance of a given word.
//
// A scan over the signatures of the words of matching length leaves few candidates; these are
// compared in a band of the distance table.
//
// Source: [Damerau64], as optimal string alignment: an edit inserts, deletes or replaces a
//   character or swaps two adjacent ones, and no substring is edited twice. README.md lists the
//   alternatives that were measured.
// No I/O except page faults.
// Threads: pure functions.
// Units: characters are code points of folded text.
// Limits: words of at most kSpelledWordMax characters; kEditsMax edits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "index/suggest/suggestion_index.h"

namespace search::index {

inline constexpr size_t kSpelledWordMax = 32;
inline constexpr uint32_t kEditsMax = 2;

struct CloseWord {
  size_t word = 0;  // index in the vocabulary
  uint32_t distance = 0;

  bool operator==(const CloseWord&) const = default;
};

// All words within `distance_max` (1 to kEditsMax) of `folded`, in the order of the vocabulary;
// none if `folded` is longer than kSpelledWordMax.
std::vector<CloseWord> FindCloseWords(const SuggestionIndex& index, std::string_view folded,
                                      uint32_t distance_max);

// The edit distance of two texts, in time proportional to the product of their lengths; for tests
// and for few pairs.
uint32_t EditDistance(std::string_view a, std::string_view b);

}  // namespace search::index
