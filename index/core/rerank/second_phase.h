// The second ranking phase: adds to the scores of the best documents of the first phase a gain
// computed from the positions of the query's words.
//
//   gain(d)      = proximity(d) + title(d) + lead(d), never negative
//   proximity(d) = proximity * sum over pairs of words s, t of  min(idf(s), idf(t)) * g / (k1 + g)
//                  s before t in the query, at most kProximityReach words apart
//   g(s, t, d)   = sum over fields c of  norm(c, d) * sum over positions p of s and q of t in c
//                  with 1 <= q - p <= kProximityWindow of  1 / (q - p)
//   title(d)     = title * cover(d)^2 * sum of idf(t) over the words t in d's title
//   cover(d)     = share of the title's words that are words of the query
//   lead(d)      = lead * sum over words t in d's body of  idf(t) * half / (half + p)
//                  p the first position of t in the body, from 0
//   norm, k1, idf: as in the first phase (index/core/search/ranking.h), weight of the field
//   included
//
// Source: proximity: [Rasolofo03] (a pair weighs as its lesser word, inverse distances
//   saturate as frequencies do), [Metzler05] (pairs in query order). Lead: [Troy07] (rank of a
//   term's first occurrence). Title: the covered share of a field, a usual feature of learned
//   rankings (LETOR); squared, to favor titles that consist of the query and little else.
// Departs from source: inverse distance, not its square; only pairs that are near each other in the
//   query, so that cost grows linearly with the query.
// No I/O, no clock; independent of segments and queries.
// Threads: SecondPhase is immutable.
// Units: gains are in 2^-16 of a score, as ScoreUnits of the first phase; positions count words
//   from 0.
// Limits: the first kSecondPhaseWordsMax words of the query count; a gain is below 2^31.
//
// A gain depends only on the query, the document and the collection's statistics. Words are
// numbered by the query, so a word that a partition lacks changes nothing. Every part is a sum of
// rounded shares, and inverse distances are counted before they are added, so the result does not
// depend on the order of addition.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/core/document.h"

namespace search::index {

inline constexpr uint32_t kProximityWindow = 8;      // words of a document
inline constexpr size_t kProximityReach = 3;         // words of the query
inline constexpr size_t kSecondPhaseWordsMax = 128;  // words of a query

// Each in [0, 1], except for the half. Larger: positions matter more relative to frequencies.
// Defaults: chosen on three judged collections, confirmed on five (index/core/README.md). 0
// switches a part off.
struct SecondPhaseWeights {
  float proximity = 0.2F;
  float title = 0.4F;
  float lead = 0.2F;
  // Position in the body at which a first occurrence counts half; in [1, 1000]. Larger: later first
  // occurrences count more.
  float lead_half = 10;

  bool operator==(const SecondPhaseWeights&) const = default;
};

// True if every value is finite and in its range.
bool IsValid(const SecondPhaseWeights& weights);

// Positions of a word of the query in a document.
struct WordPlaces {
  std::array<uint32_t, kFieldCount> frequencies = {};
  // Ascending, by field; empty in an index without positions, which disables proximity and lead.
  std::array<std::vector<uint32_t>, kFieldCount> positions;

  bool occurs() const { return frequencies != std::array<uint32_t, kFieldCount>{}; }
};

// Properties of the document itself.
struct DocumentShape {
  // First-phase weight of one occurrence in the field, by Field.
  std::array<float, kFieldCount> norms = {};
  float title_length = 0;  // in words
};

struct Gain {
  uint32_t proximity = 0;
  uint32_t title = 0;
  uint32_t lead = 0;

  uint32_t units() const { return proximity + title + lead; }
  bool operator==(const Gain&) const = default;
};

class SecondPhase {
 public:
  // idfs: those of the query's distinct scoring words, in query order; 0 for a word that no
  // document holds.
  SecondPhase(const SecondPhaseWeights& weights, float k1, std::vector<double> idfs);

  // Number of words that count.
  size_t word_count() const { return idfs_.size(); }

  // True if positions can add to a gain.
  bool needs_positions() const { return weights_.proximity > 0 || weights_.lead > 0; }

  // REQUIRES: words.size() == word_count().
  Gain Rate(std::span<const WordPlaces> words, const DocumentShape& document) const;

 private:
  uint32_t RatePair(size_t s, size_t t, std::span<const WordPlaces> words,
                    const DocumentShape& document) const;
  uint32_t RateTitle(std::span<const WordPlaces> words, const DocumentShape& document) const;
  uint32_t RateLead(std::span<const WordPlaces> words) const;

  const SecondPhaseWeights weights_;
  const double k1_;
  const std::vector<double> idfs_;
};

// Converts gain units to the unit of scores.
inline float ToGain(uint32_t units) { return static_cast<float>(units) / 65536; }

}  // namespace search::index
