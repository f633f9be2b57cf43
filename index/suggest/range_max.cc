#include "index/suggest/range_max.h"

#include <algorithm>

namespace search::index {
namespace {

constexpr size_t kBlockSize = 64;

size_t BlockCount(size_t count) { return (count + kBlockSize - 1) / kBlockSize; }

// Index of the first maximum; `begin` for an empty range.
size_t Scan(std::span<const uint16_t> values, size_t begin, size_t end) {
  const auto first = values.begin() + static_cast<ptrdiff_t>(begin);
  const auto last = values.begin() + static_cast<ptrdiff_t>(end);
  return begin + static_cast<size_t>(std::max_element(first, last) - first);
}

}  // namespace

std::vector<uint16_t> RangeMax::WithLevels(std::vector<uint16_t> values) {
  for (size_t begin = 0, count = values.size(); count > kBlockSize;) {
    const size_t blocks = BlockCount(count);
    for (size_t block = 0; block < blocks; ++block) {
      const size_t at = begin + block * kBlockSize;
      values.push_back(values[Scan(values, at, std::min(at + kBlockSize, begin + count))]);
    }
    begin += count;
    count = blocks;
  }
  return values;
}

std::optional<RangeMax> RangeMax::FromStored(std::span<const uint16_t> stored, size_t count) {
  RangeMax view;
  for (size_t begin = 0;; count = BlockCount(count)) {
    if (count > stored.size() - begin) return std::nullopt;
    view.levels_.push_back(stored.subspan(begin, count));
    begin += count;
    if (count > kBlockSize) continue;
    if (begin != stored.size()) return std::nullopt;
    return view;
  }
}

size_t RangeMax::BestOf(size_t level, size_t begin, size_t end) const {
  const std::span<const uint16_t> values = levels_[level];
  const size_t first_block = BlockCount(begin);
  const size_t end_block = end / kBlockSize;
  if (level + 1 == levels_.size() || first_block >= end_block) return Scan(values, begin, end);
  size_t best = begin;
  if (begin < first_block * kBlockSize) best = Scan(values, begin, first_block * kBlockSize);
  const size_t block = BestOf(level + 1, first_block, end_block);
  const size_t in_block = Scan(values, block * kBlockSize, (block + 1) * kBlockSize);
  if (values[in_block] > values[best]) best = in_block;
  if (end_block * kBlockSize < end) {
    const size_t in_tail = Scan(values, end_block * kBlockSize, end);
    if (values[in_tail] > values[best]) best = in_tail;
  }
  return best;
}

}  // namespace search::index
