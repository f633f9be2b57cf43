// The inner loops of evaluation by document blocks, in one variant per instruction set: portable
// code, the same code compiled for AVX2, and hand-written AVX-512. The fastest variant that the
// machine can run is chosen at the first use.
//
// Threads: pure functions.
// Shapes: arrays by document block have a multiple of kDocumentBlockStride elements and any
//   alignment; `units` are 64 sums aligned to 64 bytes; kImpactPadding impacts past the end of a
//   list must be readable.
//
// All variants give bit-identical results: sums are integer sums, and each product is rounded
// separately.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "index/core/search/impact_table.h"
#include "index/core/search/score.h"

namespace search::index {

// Elements for which arrays that kernels write, or search, have room past their end, because
// kernels handle whole vectors.
inline constexpr size_t kKernelRoom = 16;

// least <= units < end.
struct UnitRange {
  ScoreUnits least = 0;
  ScoreUnits end = 0;
};

// Documents and their units, in two arrays of `count` elements.
struct UnitsOfDocuments {
  const uint32_t* ordinals = nullptr;
  const ScoreUnits* units = nullptr;
  size_t count = 0;
};

struct BlockKernels {
  const char* name;

  // bounds[i] += maxima[i] * factor / 256, rounded down. REQUIRES: no sum exceeds 65,535.
  void (*add_bounds)(const uint8_t* maxima, uint16_t factor, size_t block_count, uint16_t* bounds);

  // Writes the ascending blocks with bounds[i] >= least to *blocks, which has room for block_count
  // + kKernelRoom; returns their number.
  size_t (*find_at_least)(const uint16_t* bounds, uint16_t least, size_t block_count,
                          uint32_t* blocks);
  // Like find_at_least, for blocks with masks[i] != 0.
  size_t (*find_masked_at_least)(const uint16_t* bounds, const uint64_t* masks, uint16_t least,
                                 size_t block_count, uint32_t* blocks);

  // masks[i] &= documents[i].
  void (*intersect)(const uint64_t* documents, size_t block_count, uint64_t* masks);

  // Adds Units(impacts[j]) of the weight to units[d] for the j-th set bit d of `documents`.
  void (*add_units)(uint64_t documents, const Impact* impacts, const TermWeight& weight,
                    ScoreUnits* units);
  // Converts each of `count` impacts to units, for queries that score by a single list.
  void (*to_units)(const Impact* impacts, size_t count, const TermWeight& weight,
                   ScoreUnits* units);

  // bounds[i] += Units of the maximum of ordinals[i]'s block.
  void (*add_block_units)(const uint8_t* maxima, const TermWeight& weight, const uint32_t* ordinals,
                          size_t count, ScoreUnits* bounds);
  // units[i] += Units of ordinals[i]'s impact, if the dense list holds it.
  void (*add_units_of)(const ImpactList& list, const TermWeight& weight, const uint32_t* ordinals,
                       size_t count, ScoreUnits* units);

  // Writes the documents of `from` whose bounds[i] is in `range` to `chosen` and `chosen_units`,
  // which have room for count + kKernelRoom; returns their number.
  size_t (*choose)(const ScoreUnits* bounds, UnitRange range, UnitsOfDocuments from,
                   uint32_t* chosen, ScoreUnits* chosen_units);

  // Bit d of the result is set if units[d] >= least.
  uint64_t (*at_least)(const ScoreUnits* units, ScoreUnits least);

  // Keeps the elements of `ordinals` and `units` whose document is in the bitmap (`wanted`) or is
  // not in it (not `wanted`); returns the number kept. REQUIRES: both have room for kKernelRoom
  // more.
  size_t (*keep)(const uint64_t* documents, bool wanted, size_t count, uint32_t* ordinals,
                 ScoreUnits* units);

  // Sets places[i] to the index of the first element of `sorted` that is at least ordinals[i].
  // REQUIRES: both arrays ascend; `sorted` is followed by kKernelRoom elements of UINT32_MAX.
  void (*find)(const uint32_t* ordinals, size_t count, const uint32_t* sorted, uint32_t* places);

  // Number of bits set in the intersection of both bitmaps, and in one bitmap.
  uint64_t (*count_intersection)(const uint64_t* a, const uint64_t* b, size_t block_count);
  uint64_t (*count)(const uint64_t* a, size_t block_count);
};

// The fastest kernels for this machine.
const BlockKernels& Kernels();
// All kernels that this machine can run, the portable ones first; for tests and benchmarks.
std::span<const BlockKernels* const> AllKernels();

}  // namespace search::index
