// Scores in whole units, so that a sum of them does not depend on the order of its parts, and the
// arithmetic of ranking.h.
//
// Source: ranking.h.
// Layer: index/core, search.
// Threads: Scorer is immutable.
// Units: ScoreUnits are 2^-16 of a score. No sum overflows: a query has at most 1,024 terms, repeats
//   counted, of at most kIdfMax, and the static rank adds at most 1,000.
//
// Every function here is monotonic in its argument also after rounding, so a bound of frequencies
// gives a bound of units.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "index/core/document.h"
#include "index/core/search/ranking.h"
#include "index/core/segment/length_code.h"

namespace search::index {

using ScoreUnits = uint32_t;
inline constexpr float kUnitsPerScore = 65536;
inline constexpr double kIdfMax = 32;

inline float ToScore(ScoreUnits units) { return static_cast<float>(units) / kUnitsPerScore; }

inline double InverseDocumentFrequency(uint64_t document_count, uint64_t document_frequency) {
  const auto n = static_cast<double>(document_count);
  const auto df = static_cast<double>(std::min(document_frequency, document_count));
  return std::min(kIdfMax, std::log(1 + (n - df + 0.5) / (df + 0.5)));
}

// What one term's saturation is worth.
class TermWeight {
 public:
  TermWeight() = default;
  // `occurrences`: how often the query says the term.
  TermWeight(uint64_t document_count, uint64_t document_frequency, uint32_t occurrences = 1)
      : weight_(static_cast<float>(InverseDocumentFrequency(document_count, document_frequency) *
                                   kUnitsPerScore)),
        occurrences_(occurrences) {}

  void AddOccurrences(uint32_t count) { occurrences_ += count; }

  // REQUIRES: 0 <= saturation <= 1.
  ScoreUnits Units(float saturation) const {
    return occurrences_ *
           static_cast<ScoreUnits>(static_cast<int32_t>(weight_ * saturation + 0.5F));
  }
  // The same for a bound from a file, whatever number it is.
  ScoreUnits BoundUnits(float saturation) const {
    return Units(std::min(1.0F, std::max(0.0F, saturation)));
  }

 private:
  float weight_ = 0;
  uint32_t occurrences_ = 1;
};

// Turns frequencies and lengths of one document into the saturation f / (k1 + f).
class Scorer {
 public:
  Scorer(const std::array<float, kFieldCount>& mean_lengths, const RankingOptions& options)
      : k1_(options.k1), static_rank_weight_(options.static_rank_weight * kUnitsPerScore) {
    for (size_t field = 0; field < kFieldCount; ++field) {
      const auto [weight, b] = options.fields[field];
      for (uint32_t code = 0; code < 256; ++code) {
        const float length = DecodeLength(static_cast<uint8_t>(code)) / mean_lengths[field];
        // An empty field under b = 1 would divide by 0; it holds no word to count.
        norms_[field][code] = weight / std::max(1 - b + b * length, 1.0F / 1024);
      }
    }
  }

  // One occurrence in the field of a document with these length codes.
  float Norm(Field field, uint32_t length_codes) const {
    const auto i = static_cast<size_t>(field);
    return norms_[i][(length_codes >> (8 * i)) & 255];
  }
  float k1() const { return k1_; }
  float Saturate(float frequency) const { return frequency / (k1_ + frequency); }

  float Saturation(const std::array<uint32_t, kFieldCount>& frequencies,
                   uint32_t length_codes) const {
    float sum = static_cast<float>(frequencies[0]) * Norm(Field::kTitle, length_codes);
    sum += static_cast<float>(frequencies[1]) * Norm(Field::kBody, length_codes);
    sum += static_cast<float>(frequencies[2]) * Norm(Field::kExtra, length_codes);
    return Saturate(sum);
  }

  ScoreUnits StaticRankUnits(float static_rank) const {
    const float rank = std::min(1.0F, std::max(0.0F, static_rank));  // 0 if not a number
    return static_cast<ScoreUnits>(static_cast<int32_t>(static_rank_weight_ * rank + 0.5F));
  }

 private:
  float k1_;
  float static_rank_weight_;
  std::array<std::array<float, 256>, kFieldCount> norms_;
};

}  // namespace search::index
