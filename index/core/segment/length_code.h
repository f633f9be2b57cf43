// Field lengths in one byte: exact up to 32, with five significant bits above.
//
// The idea is Lucene's norm byte.
// Threads: pure functions.
// Units: words.
// Limits: lengths above kFieldTokensMax are clamped to it.
//
// The code of a document depends on the document alone, so a partition ranks with the same numbers
// as the whole collection. One byte instead of four costs a relative error of at most 1/32.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "index/core/document.h"

namespace search::index {

inline constexpr uint32_t kExactLengthCount = 32;

inline uint8_t EncodeLength(uint32_t length) {
  length = std::min(length, kFieldTokensMax);
  if (length < kExactLengthCount) return static_cast<uint8_t>(length);
  const uint32_t exponent = std::bit_width(length) - 1;  // 5 to 18
  const uint32_t mantissa = (length >> (exponent - 4)) & 15;
  return static_cast<uint8_t>(kExactLengthCount + (exponent - 5) * 16 + mantissa);
}

// The midpoint of the lengths that have this code.
inline float DecodeLength(uint8_t code) {
  if (code < kExactLengthCount) return code;
  const uint32_t exponent = 5 + (code - kExactLengthCount) / 16;
  const uint32_t low = (16U + (code - kExactLengthCount) % 16) << (exponent - 4);
  return static_cast<float>(low) + static_cast<float>((1U << (exponent - 4)) - 1) / 2;
}

}  // namespace search::index
