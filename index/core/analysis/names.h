// Names with signs: what a word scanner cuts away although it means something to people who search
// documentation, such as `--help`, `-m`, `__init__`, `operator<<`, `->` and `&&`.
//
// A marked name is a term of its own at the position of its first word, so that its words are found
// as well. A sign is a word with a position of its own. README.md has the rules.
// Threads: pure functions.
// Limits: a marked name has at most kTermSizeMax bytes; signs are a closed list of a few dozen.

#pragma once

#include <cstddef>
#include <string_view>

namespace search::index {

// A part of a text, in bytes; empty if begin == end.
struct NameRange {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
};

// The marked name of which the word at [begin, end) of `text` is the first, else an empty range:
// - an option: `-m`, `-Wall`, `--no-verify`, after a blank, an opening bracket or a separator;
// - an identifier with leading underscores: `__init__`, `_Bool`;
// - an operator function: `operator<<`, `operator()`.
// It consists of ASCII characters and ends where a word ends or a sign ends. REQUIRES: a word of
// WordScanner.
NameRange MarkedNameAt(std::string_view text, size_t begin, size_t end);

// The first sign in [begin, end) of `text`, else an empty range. REQUIRES: no word in the range.
NameRange NextSign(std::string_view text, size_t begin, size_t end);

}  // namespace search::index
