// Upper bounds of the scores in each document block, in two bytes: sums of block maxima.
//
// Source: block bounds in flat arrays [Dimopoulos13].
// Threads: immutable.
// Units: bounds are ScoreUnits / 2^shift, rounded down; the shift is the smallest with which no sum
//   overflows. Least() allows for the rounding, so that no block with a hit is missed.
// Limits: 2 bytes per document block.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/core/search/word_list.h"

namespace search::index {

class BlockBounds {
 public:
  // REQUIRES: lists that are not dense were decoded.
  BlockBounds(std::span<WordList* const> scoring, Evaluation* evaluation);

  uint16_t operator[](size_t block) const { return bounds_[block]; }
  // No bound exceeds it.
  uint16_t max() const { return max_; }

  // The least bound that a block can have if it holds a document of `units`; 0: any.
  uint16_t Least(ScoreUnits units) const {
    const uint64_t least = units >> shift_;
    return static_cast<uint16_t>(least > slack_ ? std::min<uint64_t>(least - slack_, UINT16_MAX)
                                                : 0);
  }

  // The ascending blocks with a bound of at least `least`, and with any bit set in `masks`, unless
  // `masks` is empty.
  std::vector<uint32_t> Find(uint16_t least, std::span<const uint64_t> masks) const;

 private:
  void Add(const WordList& list);

  uint32_t shift_ = 0;
  uint64_t slack_ = 0;  // most that a bound can lack because of rounding
  uint16_t max_ = 0;
  std::vector<uint16_t> bounds_;
};

}  // namespace search::index
