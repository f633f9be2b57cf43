// Range maximum queries over an array with a hierarchy of block maxima: at most 128 values are
// examined on each of a few levels.
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

  // `values` followed by the levels of maxima: the array that the view below uses.
  static std::vector<uint16_t> WithLevels(std::vector<uint16_t> values);

  // nullopt unless `stored` has the size that WithLevels gives for `count` values.
  static std::optional<RangeMax> FromStored(std::span<const uint16_t> stored, size_t count);

  uint16_t value(size_t i) const { return levels_[0][i]; }

  // REQUIRES: begin < end <= count.
  size_t Best(size_t begin, size_t end) const { return BestOf(0, begin, end); }

 private:
  size_t BestOf(size_t level, size_t begin, size_t end) const;

  std::vector<std::span<const uint16_t>> levels_;
};

}  // namespace search::index
