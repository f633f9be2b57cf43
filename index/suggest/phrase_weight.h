// The weight by which suggestions are ordered, in integers, so that every partition and every
// machine computes the same order.
//
// The constants were chosen by inspecting completions of Wikipedia titles and documentation.
// Threads: pure functions.
// Units: 1/1024 bit (doubling a count adds 1024).

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "index/suggest/phrase_counts.h"

namespace search::index {

inline constexpr int32_t kBit = 1024;

// log2(count + 1).
inline int32_t CountBits(uint64_t count) {
  return static_cast<int32_t>(std::lround(kBit * std::log2(static_cast<double>(count) + 1)));
}

// Number of documents to which a title of that rank (0 to kRankUnits) is equivalent: 16 for the
// lowest, 4,096 for the highest.
inline uint64_t TitleWorth(uint32_t title_rank) {
  return static_cast<uint64_t>(
      std::lround(std::exp2(4 + 8 * static_cast<double>(title_rank) / kRankUnits)));
}

// Number of documents to which a heading or the text of a link is equivalent: a quarter of a title.
inline uint64_t NameWorth(uint32_t rank) { return TitleWorth(rank) / 4; }

// Number of documents to which a question is equivalent that was asked `count` times.
inline uint64_t QueryWorth(uint32_t count) {
  return std::min(uint64_t{count} * 16, uint64_t{1} << 20);
}

// A phrase that people wrote as a whole is closer to a question than words that are frequent: it
// comes before all of these, which have fewer bits.
inline constexpr int32_t kQuestionGain = 28 * kBit;

// Weight of a phrase of `word_count` words in `document_count` documents, plus `worth` if people
// wrote it as a whole: as a title or name. Each further word costs half a doubling, because people
// search for general phrases more often than for special ones.
inline uint16_t PhraseWeight(uint64_t document_count, uint64_t worth, size_t word_count) {
  const int64_t weight =
      CountBits(document_count + worth) - static_cast<int64_t>(word_count - 1) * kBit / 2;
  const int64_t gain = worth > 0 ? kQuestionGain : 0;
  return static_cast<uint16_t>(std::max<int64_t>(0, weight) + gain);
}

// Penalty if the typed text matches the phrase from a later word on.
inline constexpr uint16_t kLaterWordCost = 3 * kBit;

}  // namespace search::index
