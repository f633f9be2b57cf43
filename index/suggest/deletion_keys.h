// Keys by which close words meet: two words within d edits of each other share a key, because
// removing at most d characters from the beginning of each leaves the same text.
//
//   hash  ─► hash, ash, hsh, hah, has        hahs ─► hahs, ahs, hhs, has, hah       both: has, hah
//
// Source: [Mor82], [Bocek07] (deletions on both sides), here of the first characters only: edits
//   beyond them remove no more characters from the beginning than they cost.
// Threads: pure functions.
// Units: characters are code points. Keys are XXH3 of them, four bytes each, little endian.
// Limits: kDeletionPrefix characters take part; at most 29 keys for two deletions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace search::index {

// Larger: fewer words share a key, and each has more keys. Part of the format.
inline constexpr size_t kDeletionPrefix = 7;

// Number of deletions under which a word of the dictionary is found. Words of four characters need
// only one, because two edits are allowed only to texts of five and more (spelling.cc), which lose
// the other character themselves.
inline size_t StoredDeletions(size_t character_count) { return character_count < 5 ? 1 : 2; }

// Replaces *keys by the keys of valid UTF-8, ascending, each once. REQUIRES: deletions_max <= 2.
void DeletionKeys(std::string_view word, size_t deletions_max, std::vector<uint64_t>* keys);

}  // namespace search::index
