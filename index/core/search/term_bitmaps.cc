#include "index/core/search/term_bitmaps.h"

#include <algorithm>
#include <array>
#include <bit>

#include "index/core/segment/posting_cursor.h"

namespace search::index {
namespace {

std::vector<TermEntry> FrequentTerms(const Segment& segment, size_t count_max) {
  std::vector<TermEntry> terms;
  TermCursor cursor(segment.terms());
  while (cursor.Next()) {
    const uint64_t reach = uint64_t{cursor.entry().document_frequency} * kBitmapDocumentsPerPosting;
    if (reach >= segment.document_count()) terms.push_back(cursor.entry());
  }
  if (terms.size() > count_max) {
    std::stable_sort(terms.begin(), terms.end(), [](const TermEntry& a, const TermEntry& b) {
      return a.document_frequency > b.document_frequency;
    });
    terms.resize(count_max);
  }
  return terms;
}

// False if the postings are damaged.
bool Fill(const Segment& segment, const TermEntry& term, uint64_t* bitmap) {
  PostingCursor cursor(segment.postings(), term, segment.document_count());
  for (uint32_t block = 0; block < cursor.block_count(); ++block) {
    if (!cursor.LoadBlock(block)) break;
    for (const uint32_t ordinal : cursor.block_ordinals()) {
      bitmap[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
    }
  }
  return !cursor.damaged();
}

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

TermBitmaps::TermBitmaps(const Segment& segment, size_t memory_max)
    : word_count_((segment.document_count() / 64 / kBitmapStride + 1) * kBitmapStride) {
  const size_t size = word_count_ * sizeof(uint64_t);
  const std::vector<TermEntry> terms = FrequentTerms(segment, memory_max / size);
  words_.resize(terms.size() * word_count_);
  for (size_t i = 0; i < terms.size(); ++i) {
    if (Fill(segment, terms[i], &words_[i * word_count_])) {
      terms_.emplace_back(terms[i].ordinal, static_cast<uint32_t>(i));
    }
  }
  std::sort(terms_.begin(), terms_.end());
}

const uint64_t* TermBitmaps::Find(uint32_t term_ordinal) const {
  const auto at =
      std::lower_bound(terms_.begin(), terms_.end(), std::make_pair(term_ordinal, uint32_t{0}));
  if (at == terms_.end() || at->first != term_ordinal) return nullptr;
  return &words_[at->second * word_count_];
}

uint64_t CountPassing(const BitmapFilter& filter, size_t word_count) {
  return IsFast() ? CountPassingFast(filter, word_count) : CountPassingAnywhere(filter, word_count);
}

uint64_t CountBits(const uint64_t* words, size_t word_count) {
  return IsFast() ? CountBitsFast(words, word_count) : CountBitsAnywhere(words, word_count);
}

}  // namespace search::index
