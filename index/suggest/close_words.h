// The words of a dictionary that differ from a given one by few edits.
//
// Words that share a deletion key (deletion_keys.h) are compared in the band of the distance table
// that matters; no other word can be close.
//
// Source: [Damerau64], as optimal string alignment: an edit inserts, deletes or replaces a
//   character or exchanges two neighbours, and nothing is edited twice. README.md has what it was
//   measured against.
// No I/O but page faults. Threads: pure functions.
// Units: characters are code points of folded text.
// Limits: words of at most kSpelledWordMax characters; kEditsMax edits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "index/suggest/spelling_dictionary.h"

namespace search::index {

inline constexpr size_t kSpelledWordMax = 32;
inline constexpr uint32_t kEditsMax = 2;
// Two edits are looked for only from this number of characters on.
inline constexpr size_t kTwoEditsMin = 5;

struct CloseWord {
  size_t word = 0;  // number in the dictionary
  uint32_t distance = 0;

  bool operator==(const CloseWord&) const = default;
};

// Returns all words that may be meant within `distance_max` (1 to kEditsMax) of `folded`,
// ascending; empty if `folded` is too long, or too short for two edits.
std::vector<CloseWord> FindCloseWords(const SpellingDictionary& dictionary, std::string_view folded,
                                      uint32_t distance_max);

// The distance of two texts, in time of the product of their lengths; for tests and for a pair or
// two.
uint32_t EditDistance(std::string_view a, std::string_view b);

}  // namespace search::index
