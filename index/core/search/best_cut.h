// A threshold that picks about the wanted number of best candidates by their bounds.
//
// Threads: pure function.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace search::index {

// Fewest candidates for which scoring the best ones first pays off.
inline constexpr size_t kBestFirstMin = 24;

// A threshold that at least `wanted` of the values reach, and not many more; 0 if there are fewer.
// Cost: one pass over the values, which are counted in 512 bins of equal width.
// A value that exceeds `most` counts as the largest possible one.
template <typename Value>
Value CutForBest(std::span<const Value> values, Value most, size_t wanted) {
  constexpr uint32_t kBins = 512;
  const int shift = std::bit_width(most / kBins);
  std::array<uint32_t, kBins> bins = {};
  for (const Value value : values)
    ++bins[std::min(static_cast<uint32_t>(value >> shift), kBins - 1)];
  size_t found = 0;
  for (uint32_t bin = kBins; bin-- > 0;) {
    found += bins[bin];
    if (found >= wanted) return static_cast<Value>(bin << shift);
  }
  return 0;
}

}  // namespace search::index
