#include "index/core/search/block_bounds.h"

#include "index/core/search/block_kernels.h"

namespace search::index {
namespace {

// Units of a saturation of 1.
uint64_t Factor(const WordList& list) {
  return uint64_t{list.weight().Units(kImpactMax)} * 256 / 255 + 1;
}

}  // namespace

BlockBounds::BlockBounds(std::span<WordList* const> scoring, Evaluation* evaluation) {
  const SearchSpace& space = evaluation->space();
  uint64_t total = space.static_rank_units_max;
  for (const WordList* list : scoring) {
    total += list->is_dense() ? Factor(*list) : list->units_max();
  }
  while ((total >> shift_) + scoring.size() > UINT16_MAX) ++shift_;
  max_ = static_cast<uint16_t>((total >> shift_) + scoring.size());
  const size_t block_count = space.impacts.block_count();
  bounds_.assign(block_count, 0);
  if (space.static_rank_units_max > 0) {
    slack_ += 1;
    for (size_t i = 0; i < block_count; ++i) {
      bounds_[i] = static_cast<uint16_t>(space.static_rank_maxima[i] >> shift_);
    }
  }
  for (const WordList* list : scoring) {
    // Units are rounded up by at most half a unit per occurrence; the factor and the sum are
    // rounded down by at most one.
    slack_ += 3 + (list->weight().occurrences() >> shift_);
    Add(*list);
    evaluation->ShouldStop(static_cast<uint32_t>(block_count / 16));
  }
}

void BlockBounds::Add(const WordList& list) {
  if (list.is_dense()) {
    Kernels().add_bounds(list.dense().maxima, static_cast<uint16_t>(Factor(list) >> shift_),
                         bounds_.size(), bounds_.data());
    return;
  }
  const auto ordinals = list.ordinals();
  const auto units = list.units();
  for (size_t i = 0; i < ordinals.size();) {
    const uint32_t block = ordinals[i] / kDocumentBlockSize;
    ScoreUnits best = units[i];
    for (++i; i < ordinals.size() && ordinals[i] / kDocumentBlockSize == block; ++i) {
      best = std::max(best, units[i]);
    }
    bounds_[block] = static_cast<uint16_t>(bounds_[block] + (best >> shift_));
  }
}

std::vector<uint32_t> BlockBounds::Find(uint16_t least, std::span<const uint64_t> masks) const {
  const BlockKernels& kernels = Kernels();
  const size_t block_count = bounds_.size();
  std::vector<uint32_t> blocks(block_count + kKernelRoom);
  const size_t count =
      masks.empty() ? kernels.find_at_least(bounds_.data(), least, block_count, blocks.data())
                    : kernels.find_masked_at_least(bounds_.data(), masks.data(), least, block_count,
                                                   blocks.data());
  blocks.resize(count);
  return blocks;
}

}  // namespace search::index
