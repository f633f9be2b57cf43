// The set of a word's letters as 32 bits. An edit changes at most two of them, so most words of a
// vocabulary are ruled out for a given word without comparing letters.
//
// Source: [Grossi89] (counting filter), reduced to presence.
// Threads: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace search::index {

// The signature: one bit for each Latin letter, six bits shared by all other characters.
inline uint32_t LetterSignature(std::string_view utf8) {
  uint32_t signature = 0;
  uint32_t other = 0;  // bit of all multi-byte characters
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<uint8_t>(utf8[i]);
    if (byte >= 'a' && byte <= 'z') {
      signature |= uint32_t{1} << (byte - 'a');
      continue;
    }
    other = (byte & 0xC0) == 0x80 ? other * 31 + byte : byte;
    const bool is_last = i + 1 == utf8.size() || (static_cast<uint8_t>(utf8[i + 1]) & 0xC0) != 0x80;
    if (is_last) signature |= uint32_t{1} << (26 + other % 6);
  }
  return signature;
}

// Number of characters of valid UTF-8.
inline size_t CharacterCount(std::string_view utf8) {
  size_t count = 0;
  for (const char c : utf8) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

// False only if words with these signatures cannot be within `edits` edits of each other.
inline bool MayBeClose(uint32_t a, uint32_t b, uint32_t edits) {
  uint32_t differing = a ^ b;
  for (uint32_t i = 0; i < 2 * edits; ++i) differing &= differing - 1;
  return differing == 0;
}

}  // namespace search::index
