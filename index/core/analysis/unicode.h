// Code points: decoding that tolerates any bytes, folding, and the role of a code point in a word.
//
// Source: Unicode NFKC with full case folding, by utf8proc.
// Departs from source: accents on Latin and Greek letters are dropped, so that `cafe` finds `café`;
//   Thai and Lao are not decomposed, because their vowel signs would change place.
// Threads: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace search::index::unicode {

inline constexpr size_t kFoldedSizeMax = 20;

// Decodes the first code point of `text`; an invalid byte yields code_point -1 and size 1.
// REQUIRES: text is not empty.
struct Decoded {
  int32_t code_point;
  size_t size;
};
Decoded Decode(std::string_view text);

// The size of the longest prefix of valid `utf8` of at most `size_max` bytes that cuts no
// character.
size_t CutSize(std::string_view utf8, size_t size_max);

enum class WordPart : uint8_t {
  kSeparator,  // ends a word
  kIgnorable,  // soft hyphen, joiners: ignored
  kLetter,     // letter or number
  kMark,       // belongs to the preceding letter
  kIdeograph,  // a word of its own: scripts written without blanks (Han, kana, Thai, Lao, Khmer,
               // Myanmar)
};

// The role of a folded code point in a word.
WordPart PartOf(int32_t folded);

// A code point, folded and decomposed; count 0 if it separates words or is ignorable.
struct Folded {
  WordPart part = WordPart::kSeparator;  // part of the first code point
  size_t count = 0;
  int32_t code_points[kFoldedSizeMax];
};
void Fold(int32_t code_point, Folded* folded);

// True if a diacritic after this folded letter is dropped.
bool DropsAccents(int32_t folded_letter);
bool IsAccent(int32_t folded);

// Brings decomposed code points into canonical order and composes them in place; returns the new
// count.
size_t Compose(int32_t* code_points, size_t count);

// Appends the code points as UTF-8.
void AppendUtf8(const int32_t* code_points, size_t count, std::string* out);

}  // namespace search::index::unicode
