// Chooses where a passage begins and ends: at a near sentence boundary, else at a word boundary,
// never inside a character.
//
// Threads: pure functions.

#pragma once

#include <cstddef>
#include <string_view>

namespace search::docserver {

struct TextRange {
  size_t begin;
  size_t end;
};

// True for spaces and control characters; a run of them is written as one space.
inline bool IsBlank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; }

// Returns `core` extended by text around it, at most `budget` bytes, within `bounds`. It begins at
// a sentence if one begins near enough before the core, else at a word, and ends after a sentence
// or word. A core longer than the budget is cut at its end. Cost: O(budget).
// REQUIRES: bounds.begin <= core.begin < core.end <= bounds.end <= text.size(); budget >= 1.
TextRange Expand(std::string_view text, TextRange core, TextRange bounds, size_t budget);

}  // namespace search::docserver
