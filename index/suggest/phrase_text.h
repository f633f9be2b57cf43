// Text as suggestions see it: folded words that look-ups compare, and the spelling that people read.
//
// A phrase's key is its folded words (index/core/analysis: case, accents and compatibility forms gone,
// nothing stemmed) with one blank between them. Keys order by byte.
//
// No I/O. Threads: pure functions.
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
  // The word's place in the text as typed.
  size_t begin_byte = 0;
  size_t end_byte = 0;

  bool operator==(const FoldedWord&) const = default;
};

// The words of any text, folded, in order.
std::vector<FoldedWord> FoldWords(std::string_view utf8, size_t count_max);

// The key of a phrase of these words.
std::string PhraseKey(std::span<const FoldedWord> words);

// Appends the text in lower case with its accents kept; bytes that are not UTF-8 are left out.
void AppendLowerCase(std::string_view utf8, std::string* out);

// White space at the ends gone and between words one blank; control characters and bytes that are not
// UTF-8 gone.
std::string TrimmedText(std::string_view utf8);

// Whether the text, typed as a query, asks for all of its words and says nothing else: no alternatives,
// exclusions or fields. Such a query finds any document that holds the words together.
bool IsPlainQuery(std::string_view utf8);

// English words that connect others: no frequent phrase begins or ends with one.
bool IsFunctionWord(std::string_view folded);

}  // namespace search::index
