// The largest of a range of numbers, from the numbers and the maxima of their blocks, of the
// blocks' blocks, and so on: at most 128 numbers are looked at on each of few levels.
//
// Threads: immutable view; pure functions.
// Units: indices count from 0. Ties: the first of equal values is the maximum.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace search::index {

class RangeMax {
 public:
  RangeMax() = default;

  // Returns `values` followed by the levels of maxima, in the layout of FromStored.
  static std::vector<uint16_t> WithLevels(std::vector<uint16_t> values);

  // Returns nullopt unless `stored` has the length that WithLevels yields for `count` values.
  static std::optional<RangeMax> FromStored(std::span<const uint16_t> stored, size_t count);

  uint16_t value(size_t i) const { return levels_[0][i]; }

  // REQUIRES: begin < end <= count.
  size_t Best(size_t begin, size_t end) const { return BestOf(0, begin, end); }

 private:
  size_t BestOf(size_t level, size_t begin, size_t end) const;

  std::vector<std::span<const uint16_t>> levels_;
};

}  // namespace search::index
