// Text of suggestions: folded words that look-ups compare, and the spelling that people read.
//
// A phrase's key consists of its folded words (index/core/analysis: case, accents and compatibility
// forms removed, no stemming), separated by one blank. Keys are ordered bytewise.
//
// No I/O.
// Threads: pure functions.
// Limits: FoldWords gives at most `count_max` words.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace search::index {

struct FoldedWord {
  std::string text;
  // Offset of the word in the text as typed.
  size_t begin_byte = 0;
  size_t end_byte = 0;

  bool operator==(const FoldedWord&) const = default;
};

// The folded words of any text, in order.
std::vector<FoldedWord> FoldWords(std::string_view utf8, size_t count_max);

// The key of a phrase of these words.
std::string PhraseKey(std::span<const FoldedWord> words);

// Appends the text in lower case with its accents; invalid UTF-8 is dropped.
void AppendLowerCase(std::string_view utf8, std::string* out);

// Trims white space at the ends and collapses it between words to one blank; drops control
// characters and invalid UTF-8.
std::string TrimmedText(std::string_view utf8);

// True if the text, as a query, requires all of its words and nothing else: no alternatives,
// exclusions or fields. Such a query matches any document that holds the words together.
bool IsPlainQuery(std::string_view utf8);

// English function words: no frequent phrase begins or ends with one.
bool IsFunctionWord(std::string_view folded);

}  // namespace search::index
