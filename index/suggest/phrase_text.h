// Text for suggestions: folded words, which look-ups compare, and the spelling that is displayed.
//
// A phrase's key is its folded words (index/core/analysis: case, accents and compatibility forms
// are removed, but no stemming), separated by single spaces. Keys are ordered by byte.
//
// No I/O.
// Threads: pure functions.
// Limits: FoldWords returns at most `count_max` words.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace search::index {

struct FoldedWord {
  std::string text;
  // The word's place in the text as typed.
  size_t begin_byte = 0;
  size_t end_byte = 0;

  bool operator==(const FoldedWord&) const = default;
};

// The words of any text, folded, in order.
std::vector<FoldedWord> FoldWords(std::string_view utf8, size_t count_max);

// The key of a phrase of these words.
std::string PhraseKey(std::span<const FoldedWord> words);

// Appends the text in lower case, with accents; drops bytes that are not UTF-8.
void AppendLowerCase(std::string_view utf8, std::string* out);

// Trims white space, and replaces it between words by single spaces; drops control characters and
// bytes that are not UTF-8.
std::string TrimmedText(std::string_view utf8);

// True if the text, parsed as a query, requires all of its words and nothing else: no alternatives,
// exclusions or fields. Such a query matches any document that contains the words together.
bool IsPlainQuery(std::string_view utf8);

// Number of characters of valid UTF-8.
inline size_t CharacterCount(std::string_view utf8) {
  size_t count = 0;
  for (const char c : utf8) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

// English words that connect others: no frequent phrase begins or ends with one.
bool IsFunctionWord(std::string_view folded);

}  // namespace search::index
