#include "index/core/search/bitmap_filter.h"

#include <array>
#include <bit>

namespace search::index {
namespace {

using Stride = std::array<uint64_t, kBitmapStride>;

inline __attribute__((always_inline)) uint64_t CountStride(const Stride& words) {
  uint64_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

inline __attribute__((always_inline)) uint64_t CountPassingAnywhere(const BitmapFilter& filter,
                                                                    size_t word_count) {
  uint64_t count = 0;
  for (size_t at = 0; at < word_count; at += kBitmapStride) {
    Stride words;
    for (size_t i = 0; i < kBitmapStride; ++i) words[i] = filter.all[0][at + i];
    for (size_t bitmap = 1; bitmap < filter.all.size(); ++bitmap) {
      for (size_t i = 0; i < kBitmapStride; ++i) words[i] &= filter.all[bitmap][at + i];
    }
    for (const uint64_t* bitmap : filter.none) {
      for (size_t i = 0; i < kBitmapStride; ++i) words[i] &= ~bitmap[at + i];
    }
    count += CountStride(words);
  }
  return count;
}

inline __attribute__((always_inline)) uint64_t CountBitsAnywhere(const uint64_t* words,
                                                                 size_t word_count) {
  uint64_t count = 0;
  for (size_t i = 0; i < word_count; ++i) {
    count += static_cast<uint64_t>(std::popcount(words[i]));
  }
  return count;
}

// The same code for processors that count bits in one instruction.
#if defined(__x86_64__)
__attribute__((target("popcnt,avx2"))) uint64_t CountPassingFast(const BitmapFilter& filter,
                                                                 size_t word_count) {
  return CountPassingAnywhere(filter, word_count);
}
__attribute__((target("popcnt,avx2"))) uint64_t CountBitsFast(const uint64_t* words,
                                                              size_t word_count) {
  return CountBitsAnywhere(words, word_count);
}
bool IsFast() { return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("avx2"); }
#else
uint64_t CountPassingFast(const BitmapFilter&, size_t) { return 0; }
uint64_t CountBitsFast(const uint64_t*, size_t) { return 0; }
bool IsFast() { return false; }
#endif

}  // namespace

uint64_t CountPassing(const BitmapFilter& filter, size_t word_count) {
  return IsFast() ? CountPassingFast(filter, word_count) : CountPassingAnywhere(filter, word_count);
}

uint64_t CountBits(const uint64_t* words, size_t word_count) {
  return IsFast() ? CountBitsFast(words, word_count) : CountBitsAnywhere(words, word_count);
}

}  // namespace search::index
