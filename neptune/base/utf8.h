// Decodes untrusted text one code point at a time, and encodes code points.
//
// Written here rather than taken from a library: the runtime is preloaded into foreign programs,
// which must not get libraries with it. Bulk validation of documents uses simdjson (index/html).
// Source: Unicode 15, 3.9 table 3-7 (well-formed UTF-8).
// Threads: pure functions.
// Errors: a byte that does not begin a well-formed sequence becomes U+FFFD. Pages and corpora,
//   where one U+FFFD stands for each ill-formed part, use index/html/utf8.h.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace neptune {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;
inline constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

struct DecodedCodePoint {
  char32_t code_point = kReplacementCharacter;
  size_t size = 1;  // bytes of the text that it encodes
  bool well_formed = false;
  // If ill-formed: bytes of the longest prefix that begins a well-formed sequence, or 1 (maximal
  // subpart).
  size_t ill_formed_size = 1;
};

// The code point at the beginning of `text`. REQUIRES: text is not empty.
DecodedCodePoint DecodeCodePoint(std::string_view text);

// Whether all of `text` is well-formed: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsUtf8(std::string_view text);

// `text` with U+FFFD for every byte that is not part of well-formed UTF-8.
std::string ToUtf8(std::string_view text);

// Appends the encoding of a code point. REQUIRES: it is at most U+10FFFF and not a surrogate.
void AppendUtf8(char32_t code_point, std::string* out);

// The longest prefix of `text` of at most `size_max` bytes that splits no code point.
std::string_view TruncateUtf8(std::string_view text, size_t size_max);

}  // namespace neptune
