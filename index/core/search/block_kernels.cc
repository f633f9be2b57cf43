#include "index/core/search/block_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace search::index {
namespace {

// The portable loops. The wrappers below compile them once for each instruction set.
#define NEPTUNE_KERNEL inline __attribute__((always_inline))

NEPTUNE_KERNEL void AddBoundsLoop(const uint8_t* __restrict maxima, uint16_t factor,
                                  size_t block_count, uint16_t* __restrict bounds) {
  for (size_t i = 0; i < block_count; ++i) {
    bounds[i] = static_cast<uint16_t>(bounds[i] + ((uint32_t{maxima[i]} * factor) >> 8));
  }
}

NEPTUNE_KERNEL size_t FindAtLeastLoop(const uint16_t* bounds, uint16_t least, size_t block_count,
                                      uint32_t* blocks) {
  size_t found = 0;
  for (size_t i = 0; i < block_count; ++i) {
    blocks[found] = static_cast<uint32_t>(i);
    found += bounds[i] >= least ? 1 : 0;
  }
  return found;
}

NEPTUNE_KERNEL size_t FindMaskedAtLeastLoop(const uint16_t* bounds, const uint64_t* masks,
                                            uint16_t least, size_t block_count, uint32_t* blocks) {
  size_t found = 0;
  for (size_t i = 0; i < block_count; ++i) {
    blocks[found] = static_cast<uint32_t>(i);
    found += bounds[i] >= least && masks[i] != 0 ? 1 : 0;
  }
  return found;
}

NEPTUNE_KERNEL void IntersectLoop(const uint64_t* __restrict documents, size_t block_count,
                                  uint64_t* __restrict masks) {
  for (size_t i = 0; i < block_count; ++i) masks[i] &= documents[i];
}

NEPTUNE_KERNEL void AddUnitsLoop(uint64_t documents, const Impact* impacts,
                                 const TermWeight& weight, ScoreUnits* units) {
  for (; documents != 0; documents &= documents - 1) {
    units[std::countr_zero(documents)] += weight.Units(*impacts++);
  }
}

NEPTUNE_KERNEL void ToUnitsLoop(const Impact* __restrict impacts, size_t count,
                                const TermWeight& weight, ScoreUnits* __restrict units) {
  const TermWeight copy = weight;
  for (size_t i = 0; i < count; ++i) units[i] = copy.Units(impacts[i]);
}

NEPTUNE_KERNEL void AddBlockUnitsLoop(const uint8_t* maxima, const TermWeight& weight,
                                      const uint32_t* ordinals, size_t count, ScoreUnits* bounds) {
  const TermWeight copy = weight;
  for (size_t i = 0; i < count; ++i) {
    bounds[i] += copy.Units(FromImpactBound(maxima[ordinals[i] / kDocumentBlockSize]));
  }
}

NEPTUNE_KERNEL void AddUnitsOfLoop(const ImpactList& list, const TermWeight& weight,
                                   const uint32_t* ordinals, size_t count, ScoreUnits* units) {
  constexpr size_t kAhead = 8;
  const TermWeight copy = weight;
  const auto posting = [&list](uint32_t ordinal) {
    const uint32_t block = ordinal / kDocumentBlockSize;
    const uint64_t below = (uint64_t{1} << (ordinal % kDocumentBlockSize)) - 1;
    return list.impacts + list.firsts[block] + std::popcount(list.documents[block] & below);
  };
  for (size_t i = 0; i < count; ++i) {
    if (i + 2 * kAhead < count) {
      __builtin_prefetch(&list.documents[ordinals[i + 2 * kAhead] / kDocumentBlockSize]);
      __builtin_prefetch(&list.firsts[ordinals[i + 2 * kAhead] / kDocumentBlockSize]);
    }
    if (i + kAhead < count) __builtin_prefetch(posting(ordinals[i + kAhead]));
    if (HoldsDocument(list.documents, ordinals[i])) units[i] += copy.Units(*posting(ordinals[i]));
  }
}

NEPTUNE_KERNEL size_t ChooseLoop(const ScoreUnits* bounds, UnitRange range, UnitsOfDocuments from,
                                 uint32_t* chosen, ScoreUnits* chosen_units) {
  size_t found = 0;
  for (size_t i = 0; i < from.count; ++i) {
    chosen[found] = from.ordinals[i];
    chosen_units[found] = from.units[i];
    found += bounds[i] >= range.least && bounds[i] < range.end ? 1 : 0;
  }
  return found;
}

NEPTUNE_KERNEL uint64_t AtLeastLoop(const ScoreUnits* units, ScoreUnits least) {
  uint64_t mask = 0;
  for (size_t i = 0; i < kDocumentBlockSize; ++i) {
    mask |= uint64_t{units[i] >= least ? 1U : 0U} << i;
  }
  return mask;
}

NEPTUNE_KERNEL size_t KeepLoop(const uint64_t* documents, bool wanted, size_t count,
                               uint32_t* ordinals, ScoreUnits* units) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t ordinal = ordinals[i];
    ordinals[kept] = ordinal;
    units[kept] = units[i];
    kept += HoldsDocument(documents, ordinal) == wanted ? 1 : 0;
  }
  return kept;
}

NEPTUNE_KERNEL void FindLoop(const uint32_t* ordinals, size_t count, const uint32_t* sorted,
                             uint32_t* places) {
  constexpr uint32_t kStep = 16;
  uint32_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t ordinal = ordinals[i];
    while (sorted[at + kStep - 1] < ordinal) at += kStep;
    uint32_t smaller = 0;
    for (uint32_t j = 0; j < kStep; ++j) smaller += sorted[at + j] < ordinal ? 1 : 0;
    places[i] = at + smaller;
  }
}

NEPTUNE_KERNEL uint64_t CountIntersectionLoop(const uint64_t* a, const uint64_t* b,
                                              size_t block_count) {
  uint64_t count = 0;
  for (size_t i = 0; i < block_count; ++i) {
    count += static_cast<uint64_t>(std::popcount(a[i] & b[i]));
  }
  return count;
}

NEPTUNE_KERNEL uint64_t CountLoop(const uint64_t* a, size_t block_count) {
  uint64_t count = 0;
  for (size_t i = 0; i < block_count; ++i) count += static_cast<uint64_t>(std::popcount(a[i]));
  return count;
}

// Defines the functions of all loops for one instruction set, and their table.
#define NEPTUNE_KERNEL_TABLE(kTable, set_name, ...)                                                \
  __VA_ARGS__ void AddBounds##kTable(const uint8_t* maxima, uint16_t factor, size_t block_count,   \
                                     uint16_t* bounds) {                                           \
    AddBoundsLoop(maxima, factor, block_count, bounds);                                            \
  }                                                                                                \
  __VA_ARGS__ size_t FindAtLeast##kTable(const uint16_t* bounds, uint16_t least,                   \
                                         size_t block_count, uint32_t* blocks) {                   \
    return FindAtLeastLoop(bounds, least, block_count, blocks);                                    \
  }                                                                                                \
  __VA_ARGS__ size_t FindMaskedAtLeast##kTable(const uint16_t* bounds, const uint64_t* masks,      \
                                               uint16_t least, size_t block_count,                 \
                                               uint32_t* blocks) {                                 \
    return FindMaskedAtLeastLoop(bounds, masks, least, block_count, blocks);                       \
  }                                                                                                \
  __VA_ARGS__ void Intersect##kTable(const uint64_t* documents, size_t block_count,                \
                                     uint64_t* masks) {                                            \
    IntersectLoop(documents, block_count, masks);                                                  \
  }                                                                                                \
  __VA_ARGS__ void AddUnits##kTable(uint64_t documents, const Impact* impacts,                     \
                                    const TermWeight& weight, ScoreUnits* units) {                 \
    AddUnitsLoop(documents, impacts, weight, units);                                               \
  }                                                                                                \
  __VA_ARGS__ void ToUnits##kTable(const Impact* impacts, size_t count, const TermWeight& weight,  \
                                   ScoreUnits* units) {                                            \
    ToUnitsLoop(impacts, count, weight, units);                                                    \
  }                                                                                                \
  __VA_ARGS__ void AddBlockUnits##kTable(const uint8_t* maxima, const TermWeight& weight,          \
                                         const uint32_t* ordinals, size_t count,                   \
                                         ScoreUnits* bounds) {                                     \
    AddBlockUnitsLoop(maxima, weight, ordinals, count, bounds);                                    \
  }                                                                                                \
  __VA_ARGS__ void AddUnitsOf##kTable(const ImpactList& list, const TermWeight& weight,            \
                                      const uint32_t* ordinals, size_t count, ScoreUnits* units) { \
    AddUnitsOfLoop(list, weight, ordinals, count, units);                                          \
  }                                                                                                \
  __VA_ARGS__ size_t Choose##kTable(const ScoreUnits* bounds, UnitRange range,                     \
                                    UnitsOfDocuments from, uint32_t* chosen,                       \
                                    ScoreUnits* chosen_units) {                                    \
    return ChooseLoop(bounds, range, from, chosen, chosen_units);                                  \
  }                                                                                                \
  __VA_ARGS__ uint64_t AtLeast##kTable(const ScoreUnits* units, ScoreUnits least) {                \
    return AtLeastLoop(units, least);                                                              \
  }                                                                                                \
  __VA_ARGS__ size_t Keep##kTable(const uint64_t* documents, bool wanted, size_t count,            \
                                  uint32_t* ordinals, ScoreUnits* units) {                         \
    return KeepLoop(documents, wanted, count, ordinals, units);                                    \
  }                                                                                                \
  __VA_ARGS__ void Find##kTable(const uint32_t* ordinals, size_t count, const uint32_t* sorted,    \
                                uint32_t* places) {                                                \
    FindLoop(ordinals, count, sorted, places);                                                     \
  }                                                                                                \
  __VA_ARGS__ uint64_t CountIntersection##kTable(const uint64_t* a, const uint64_t* b,             \
                                                 size_t block_count) {                             \
    return CountIntersectionLoop(a, b, block_count);                                               \
  }                                                                                                \
  __VA_ARGS__ uint64_t Count##kTable(const uint64_t* a, size_t block_count) {                      \
    return CountLoop(a, block_count);                                                              \
  }                                                                                                \
  constexpr BlockKernels k##kTable = {                                                             \
      .name = set_name,                                                                            \
      .add_bounds = AddBounds##kTable,                                                             \
      .find_at_least = FindAtLeast##kTable,                                                        \
      .find_masked_at_least = FindMaskedAtLeast##kTable,                                           \
      .intersect = Intersect##kTable,                                                              \
      .add_units = AddUnits##kTable,                                                               \
      .to_units = ToUnits##kTable,                                                                 \
      .add_block_units = AddBlockUnits##kTable,                                                    \
      .add_units_of = AddUnitsOf##kTable,                                                          \
      .choose = Choose##kTable,                                                                    \
      .at_least = AtLeast##kTable,                                                                 \
      .keep = Keep##kTable,                                                                        \
      .find = Find##kTable,                                                                        \
      .count_intersection = CountIntersection##kTable,                                             \
      .count = Count##kTable,                                                                      \
  };

NEPTUNE_KERNEL_TABLE(Portable, "portable")

#if defined(__x86_64__)

#define NEPTUNE_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
NEPTUNE_KERNEL_TABLE(Avx2, "avx2", NEPTUNE_AVX2)

#define NEPTUNE_AVX512                                                              \
  __attribute__((                                                                   \
      target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2," \
             "avx512vpopcntdq")))

NEPTUNE_AVX512 void AddBounds512(const uint8_t* maxima, uint16_t factor, size_t block_count,
                                 uint16_t* bounds) {
  const __m512i factors = _mm512_set1_epi16(static_cast<int16_t>(factor));
  for (size_t i = 0; i < block_count; i += 32) {
    const __m512i bytes = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i*)(maxima + i)));
    const __m512i product = _mm512_mulhi_epu16(_mm512_slli_epi16(bytes, 8), factors);
    _mm512_storeu_si512(bounds + i, _mm512_add_epi16(_mm512_loadu_si512(bounds + i), product));
  }
}

NEPTUNE_AVX512 inline size_t StoreBlocks(uint32_t mask, size_t first, uint32_t* blocks) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  size_t found = 0;
  for (; mask != 0; mask >>= 16, first += 16) {
    const auto low = static_cast<__mmask16>(mask & 0xFFFF);
    const __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(first)));
    _mm512_storeu_si512(blocks + found, _mm512_maskz_compress_epi32(low, numbers));
    found += static_cast<size_t>(std::popcount(static_cast<uint32_t>(low)));
  }
  return found;
}

NEPTUNE_AVX512 size_t FindAtLeast512(const uint16_t* bounds, uint16_t least, size_t block_count,
                                     uint32_t* blocks) {
  const __m512i leasts = _mm512_set1_epi16(static_cast<int16_t>(least));
  size_t found = 0;
  for (size_t i = 0; i < block_count; i += 32) {
    const __mmask32 mask = _mm512_cmpge_epu16_mask(_mm512_loadu_si512(bounds + i), leasts);
    if (mask != 0) found += StoreBlocks(mask, i, blocks + found);
  }
  return found;
}

NEPTUNE_AVX512 size_t FindMaskedAtLeast512(const uint16_t* bounds, const uint64_t* masks,
                                           uint16_t least, size_t block_count, uint32_t* blocks) {
  const __m512i leasts = _mm512_set1_epi16(static_cast<int16_t>(least));
  size_t found = 0;
  for (size_t i = 0; i < block_count; i += 32) {
    uint32_t mask = _mm512_cmpge_epu16_mask(_mm512_loadu_si512(bounds + i), leasts);
    if (mask == 0) continue;
    uint32_t present = 0;
    for (size_t j = 0; j < 4; ++j) {
      const __m512i words = _mm512_loadu_si512(masks + i + 8 * j);
      present |= uint32_t{_mm512_test_epi64_mask(words, words)} << (8 * j);
    }
    mask &= present;
    if (mask != 0) found += StoreBlocks(mask, i, blocks + found);
  }
  return found;
}

// The units of 16 impacts in 32-bit lanes.
NEPTUNE_AVX512 inline __m512i Units512(__m512i impacts, __m512 idf, __m512i occurrences) {
  const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(impacts), idf);
  const __m512i units = _mm512_cvttps_epi32(_mm512_add_ps(product, _mm512_set1_ps(0.5F)));
  return _mm512_mullo_epi32(units, occurrences);
}

NEPTUNE_AVX512 void AddUnits512(uint64_t documents, const Impact* impacts, const TermWeight& weight,
                                ScoreUnits* units) {
  const __m512 idf = _mm512_set1_ps(weight.idf());
  const __m512i occurrences = _mm512_set1_epi32(static_cast<int>(weight.occurrences()));
  for (; documents != 0; documents >>= 16, units += 16) {
    const auto mask = static_cast<__mmask16>(documents & 0xFFFF);
    if (mask == 0) continue;
    const __m512i packed = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)impacts));
    impacts += std::popcount(static_cast<uint32_t>(mask));
    // Lanes without a document have impact 0, which converts to 0 units.
    const __m512i placed = _mm512_maskz_expand_epi32(mask, packed);
    const __m512i sum =
        _mm512_add_epi32(_mm512_load_si512(units), Units512(placed, idf, occurrences));
    _mm512_store_si512(units, sum);
  }
}

NEPTUNE_AVX512 void ToUnits512(const Impact* impacts, size_t count, const TermWeight& weight,
                               ScoreUnits* units) {
  const __m512 idf = _mm512_set1_ps(weight.idf());
  const __m512i occurrences = _mm512_set1_epi32(static_cast<int>(weight.occurrences()));
  for (size_t i = 0; i < count; i += 16) {
    const auto mask = static_cast<__mmask16>(count - i >= 16 ? 0xFFFF : (1U << (count - i)) - 1);
    const __m512i packed = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, impacts + i));
    _mm512_mask_storeu_epi32(units + i, mask, Units512(packed, idf, occurrences));
  }
}

NEPTUNE_AVX512 void AddBlockUnits512(const uint8_t* maxima, const TermWeight& weight,
                                     const uint32_t* ordinals, size_t count, ScoreUnits* bounds) {
  const __m512 idf = _mm512_set1_ps(weight.idf());
  const __m512i occurrences = _mm512_set1_epi32(static_cast<int>(weight.occurrences()));
  const __m512i byte = _mm512_set1_epi32(255);
  for (size_t i = 0; i < count; i += 16) {
    const auto valid = static_cast<__mmask16>(count - i >= 16 ? 0xFFFF : (1U << (count - i)) - 1);
    const __m512i block = _mm512_srli_epi32(_mm512_maskz_loadu_epi32(valid, ordinals + i), 6);
    // Reads four bytes at a multiple of four; the padding of the array makes them readable.
    const __m512i words = _mm512_i32gather_epi32(_mm512_srli_epi32(block, 2), maxima, 4);
    const __m512i shift = _mm512_slli_epi32(_mm512_and_si512(block, _mm512_set1_epi32(3)), 3);
    const __m512i maximum = _mm512_and_si512(_mm512_srlv_epi32(words, shift), byte);
    const __m512i units = Units512(_mm512_slli_epi32(maximum, 8), idf, occurrences);
    const __m512i sum = _mm512_add_epi32(_mm512_maskz_loadu_epi32(valid, bounds + i), units);
    _mm512_mask_storeu_epi32(bounds + i, valid, sum);
  }
}

NEPTUNE_AVX512 size_t Choose512(const ScoreUnits* bounds, UnitRange range, UnitsOfDocuments from,
                                uint32_t* chosen, ScoreUnits* chosen_units) {
  const __m512i leasts = _mm512_set1_epi32(static_cast<int>(range.least));
  const __m512i ends = _mm512_set1_epi32(static_cast<int>(range.end));
  const size_t count = from.count;
  size_t found = 0;
  for (size_t i = 0; i < count; i += 16) {
    auto mask = static_cast<__mmask16>(count - i >= 16 ? 0xFFFF : (1U << (count - i)) - 1);
    const __m512i bound = _mm512_maskz_loadu_epi32(mask, bounds + i);
    const __m512i ordinal = _mm512_maskz_loadu_epi32(mask, from.ordinals + i);
    const __m512i value = _mm512_maskz_loadu_epi32(mask, from.units + i);
    mask = _mm512_mask_cmpge_epu32_mask(mask, bound, leasts);
    mask = _mm512_mask_cmplt_epu32_mask(mask, bound, ends);
    _mm512_storeu_si512(chosen + found, _mm512_maskz_compress_epi32(mask, ordinal));
    _mm512_storeu_si512(chosen_units + found, _mm512_maskz_compress_epi32(mask, value));
    found += static_cast<size_t>(std::popcount(static_cast<uint32_t>(mask)));
  }
  return found;
}

NEPTUNE_AVX512 uint64_t AtLeast512(const ScoreUnits* units, ScoreUnits least) {
  const __m512i leasts = _mm512_set1_epi32(static_cast<int>(least));
  uint64_t mask = 0;
  for (size_t i = 0; i < 4; ++i) {
    const uint64_t part = _mm512_cmpge_epu32_mask(_mm512_load_si512(units + 16 * i), leasts);
    mask |= part << (16 * i);
  }
  return mask;
}

NEPTUNE_AVX512 size_t Keep512(const uint64_t* documents, bool wanted, size_t count,
                              uint32_t* ordinals, ScoreUnits* units) {
  const auto* words = reinterpret_cast<const uint32_t*>(documents);
  const __m512i one = _mm512_set1_epi32(1);
  size_t kept = 0;
  for (size_t i = 0; i < count; i += 16) {
    const auto valid = static_cast<__mmask16>(count - i >= 16 ? 0xFFFF : (1U << (count - i)) - 1);
    const __m512i ordinal = _mm512_maskz_loadu_epi32(valid, ordinals + i);
    const __m512i value = _mm512_maskz_loadu_epi32(valid, units + i);
    const __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(ordinal, 5), words, 4);
    const __m512i bit = _mm512_sllv_epi32(one, _mm512_and_si512(ordinal, _mm512_set1_epi32(31)));
    __mmask16 mask = wanted ? _mm512_mask_test_epi32_mask(valid, word, bit)
                            : _mm512_mask_testn_epi32_mask(valid, word, bit);
    // Stores whole vectors: what they overwrite has been read. (Compressing stores are slow on some
    // CPUs.)
    _mm512_storeu_si512(ordinals + kept, _mm512_maskz_compress_epi32(mask, ordinal));
    _mm512_storeu_si512(units + kept, _mm512_maskz_compress_epi32(mask, value));
    kept += static_cast<size_t>(std::popcount(static_cast<uint32_t>(mask)));
  }
  return kept;
}

NEPTUNE_AVX512 uint64_t CountIntersection512(const uint64_t* a, const uint64_t* b,
                                             size_t block_count) {
  __m512i sum = _mm512_setzero_si512();
  for (size_t i = 0; i < block_count; i += 8) {
    const __m512i both = _mm512_and_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
    sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(both));
  }
  std::array<uint64_t, 8> sums;
  _mm512_storeu_si512(sums.data(), sum);
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

NEPTUNE_AVX512 uint64_t Count512(const uint64_t* a, size_t block_count) {
  return CountIntersection512(a, a, block_count);
}

constexpr BlockKernels kAvx512 = {
    .name = "avx512",
    .add_bounds = AddBounds512,
    .find_at_least = FindAtLeast512,
    .find_masked_at_least = FindMaskedAtLeast512,
    .intersect = IntersectAvx2,
    .add_units = AddUnits512,
    .to_units = ToUnits512,
    .add_block_units = AddBlockUnits512,
    .add_units_of = AddUnitsOfAvx2,
    .choose = Choose512,
    .at_least = AtLeast512,
    .keep = Keep512,
    .find = FindAvx2,
    .count_intersection = CountIntersection512,
    .count = Count512,
};

bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}
bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2") &&
         __builtin_cpu_supports("avx512vpopcntdq");
}

#endif

std::vector<const BlockKernels*> FindKernels() {
  std::vector<const BlockKernels*> all = {&kPortable};
#if defined(__x86_64__)
  if (HasAvx2()) all.push_back(&kAvx2);
  if (HasAvx512()) all.push_back(&kAvx512);
#endif
  return all;
}

const std::vector<const BlockKernels*>& FoundKernels() {
  static const auto& all = *new std::vector<const BlockKernels*>(FindKernels());
  return all;
}

}  // namespace

const BlockKernels& Kernels() { return *FoundKernels().back(); }
std::span<const BlockKernels* const> AllKernels() { return FoundKernels(); }

}  // namespace search::index
