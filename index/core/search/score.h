// Integer scores, so that a sum does not depend on the order of its parts, and the arithmetic of
// ranking.h.
//
// Source: ranking.h.
// Threads: Scorer is immutable.
// Units: ScoreUnits are 2^-16 of a score, an Impact is 2^-16 of a saturation. No sum overflows: a
//   query has at most 1,024 terms, repeats counted, of at most kIdfMax, and the static rank adds at
//   most 1,000.
//
// Every function here is monotonic in its argument even after rounding, so a bound of impacts
// yields a bound of units.

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

// A posting's contribution before its term weight: the saturation f / (k1 + f) of ranking.h in two
// bytes, so that impact lists are small and scoring needs neither frequencies nor lengths.
using Impact = uint16_t;
inline constexpr float kImpactsPerSaturation = 65536;
// Highest impact. Its top byte, rounded up, still fits one byte.
inline constexpr Impact kImpactMax = 255 * 256;

// Rounds a bound of impacts up to its top byte; and the impact that such a byte encodes.
inline uint8_t ToImpactBound(Impact impact) { return static_cast<uint8_t>((impact + 255) / 256); }
inline Impact FromImpactBound(uint8_t bound) { return static_cast<Impact>(256 * bound); }

inline float ToScore(ScoreUnits units) { return static_cast<float>(units) / kUnitsPerScore; }

inline double InverseDocumentFrequency(uint64_t document_count, uint64_t document_frequency) {
  const auto n = static_cast<double>(document_count);
  const auto df = static_cast<double>(std::min(document_frequency, document_count));
  return std::min(kIdfMax, std::log(1 + (n - df + 0.5) / (df + 0.5)));
}

// Converts impacts of one term to units.
class TermWeight {
 public:
  TermWeight() = default;
  // `occurrences`: number of occurrences of the term in the query; `percent`: their share of the
  // usual weight, at most 100.
  TermWeight(uint64_t document_count, uint64_t document_frequency, uint32_t occurrences = 1,
             uint32_t percent = 100)
      : idf_(static_cast<float>(InverseDocumentFrequency(document_count, document_frequency) *
                                percent / 100)),
        occurrences_(occurrences) {}

  void AddOccurrences(uint32_t count) { occurrences_ += count; }
  // Times the share.
  float idf() const { return idf_; }
  uint32_t occurrences() const { return occurrences_; }

  ScoreUnits Units(Impact impact) const {
    return occurrences_ *
           static_cast<ScoreUnits>(static_cast<int32_t>(idf_ * static_cast<float>(impact) + 0.5F));
  }

 private:
  float idf_ = 0;
  uint32_t occurrences_ = 1;
};

// Computes impacts from the frequencies and lengths of one document.
class Scorer {
 public:
  Scorer(const std::array<float, kFieldCount>& mean_lengths, const RankingOptions& options)
      : k1_(options.k1), static_rank_weight_(options.static_rank_weight * kUnitsPerScore) {
    for (size_t field = 0; field < kFieldCount; ++field) {
      const auto [weight, b] = options.fields[field];
      for (uint32_t code = 0; code < 256; ++code) {
        const float length = DecodeLength(static_cast<uint8_t>(code)) / mean_lengths[field];
        // An empty field with b = 1 would divide by 0; it holds no word to count.
        norms_[field][code] = weight / std::max(1 - b + b * length, 1.0F / 1024);
      }
    }
  }

  // Weight of one occurrence in the field of a document with these length codes.
  float Norm(Field field, uint32_t length_codes) const {
    const auto i = static_cast<size_t>(field);
    return norms_[i][(length_codes >> (8 * i)) & 255];
  }
  float k1() const { return k1_; }
  // `frequency`: f(t, d) of ranking.h.
  Impact ToImpact(float frequency) const {
    const float impact = frequency / (k1_ + frequency) * kImpactsPerSaturation + 0.5F;
    return static_cast<Impact>(std::min(static_cast<int32_t>(impact), int32_t{kImpactMax}));
  }

  Impact ToImpact(const std::array<uint32_t, kFieldCount>& frequencies,
                  uint32_t length_codes) const {
    float sum = static_cast<float>(frequencies[0]) * Norm(Field::kTitle, length_codes);
    sum += static_cast<float>(frequencies[1]) * Norm(Field::kBody, length_codes);
    sum += static_cast<float>(frequencies[2]) * Norm(Field::kExtra, length_codes);
    return ToImpact(sum);
  }

  ScoreUnits StaticRankUnits(float static_rank) const {
    const float rank = std::min(1.0F, std::max(0.0F, static_rank));  // 0 for NaN
    return static_cast<ScoreUnits>(static_cast<int32_t>(static_rank_weight_ * rank + 0.5F));
  }

 private:
  float k1_;
  float static_rank_weight_;
  std::array<std::array<float, 256>, kFieldCount> norms_;
};

}  // namespace search::index
