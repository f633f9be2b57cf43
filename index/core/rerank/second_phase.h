// The second ranking phase: what the best documents of the first gain by where the query's words
// stand in them.
//
//   gain(d)      = proximity(d) + title(d) + lead(d), never negative
//   proximity(d) = proximity * sum over pairs of words s, t of  min(idf(s), idf(t)) * g / (k1 + g)
//                  s before t in the query, at most kProximityReach words apart
//   g(s, t, d)   = sum over fields c of  norm(c, d) * sum over places p of s, q of t in c  1 / (q - p)
//                  1 <= q - p <= kProximityWindow
//   title(d)     = title * cover(d)^2 * sum of idf(t) over the words t in d's title
//   cover(d)     = share of the title's words that are words of the query
//   lead(d)      = lead * sum over words t in d's body of  idf(t) * half / (half + p)
//                  p the first place of t in the body, from 0
//   norm, k1, idf: as in the first phase (index/core/search/ranking.h), weight of the field included
//
// Source: proximity: [Rasolofo03] (pairs weigh as their lesser word, inverse distances
//   saturate as frequencies do), [Metzler05] (what stands in the query's order).
//   Lead: [Troy07] (rank of a term's first occurrence). Title: the covered share of a
//   field, a usual feature of learned rankings (LETOR); squared, so that a title that says the query
//   and nothing else stands out.
// Departs from source: inverse distance, not its square; only pairs that stand near each other in
//   the query, so that cost grows linearly with it.
// No I/O, no clock, knows neither segments nor queries.
// Threads: SecondPhase is immutable.
// Units: gains are in 2^-16 of a score, as ScoreUnits of the first phase; places are numbers of
//   words, from 0.
// Limits: the first kSecondPhaseWordsMax words of the query count; a gain is below 2^31.
//
// A gain depends on the query, the document and the collection's statistics, in that no word that a
// partition happens to lack changes it: words are numbered by the query. Every part is a sum of
// rounded shares, and inverse distances are counted before they are added, so that there is no order
// of addition to agree on.

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
inline constexpr size_t kSecondPhaseWordsMax = 128;  // of the query

// Each in [0, 1], but for the half. Larger: where words stand counts more beside how often. Defaults:
// chosen on three judged collections, confirmed on five (index/core/README.md). 0 switches a part off.
struct SecondPhaseWeights {
  float proximity = 0.2F;
  float title = 0.4F;
  float lead = 0.2F;
  // Place in the body at which a first occurrence counts half; in [1, 1000]. Larger: the lead
  // reaches further.
  float lead_half = 10;

  bool operator==(const SecondPhaseWeights&) const = default;
};

// Whether every value is finite and in its range.
bool IsValid(const SecondPhaseWeights& weights);

// Where a word of the query stands in a document.
struct WordPlaces {
  std::array<uint32_t, kFieldCount> frequencies = {};
  // Ascending, by field; empty in an index without positions, which takes proximity and lead away.
  std::array<std::vector<uint32_t>, kFieldCount> positions;
};

// What counts of the document itself.
struct DocumentShape {
  // What one occurrence in the field is worth to the first phase, by Field.
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
  // idfs: of the query's scoring words in its order, each once; 0 of one that no document holds.
  // REQUIRES: IsValid(weights), k1 > 0, 0 <= idf <= 32.
  SecondPhase(const SecondPhaseWeights& weights, float k1, std::vector<double> idfs);

  // Words that count.
  size_t word_count() const { return idfs_.size(); }

  // Whether there is anything that positions could add.
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

// The gain in the unit of scores.
inline float ToGain(uint32_t units) { return static_cast<float>(units) / 65536; }

}  // namespace search::index
