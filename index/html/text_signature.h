// A signature of a text's words: texts with nearly the same words have nearly the same bits.
//
// Source: simhash [Charikar02] over sequences of words; near-duplicates by the number of different
//   bits [Manku07].
// Threads: pure functions.
// Limits: linear time; texts of fewer than kSignatureWordsMin words have none.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace search::html {

// Default: shorter texts have too few sequences for the bits to say anything.
inline constexpr size_t kSignatureWordsMin = 40;
// Words of a sequence. Larger: the order of words counts more, and small changes too.
inline constexpr size_t kSignatureSequence = 3;

// The signature, 0 if the text is too short. Words are runs of letters, digits and bytes beyond
// ASCII; upper and lower case of ASCII are equal.
uint64_t TextSignature(std::string_view text);

// Number of different bits, 0 to 64; 64 if either text has none.
constexpr int SignatureDistance(uint64_t a, uint64_t b) {
  return a == 0 || b == 0 ? 64 : std::popcount(a ^ b);
}

}  // namespace search::html
