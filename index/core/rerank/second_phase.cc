#include "index/core/rerank/second_phase.h"

#include <algorithm>
#include <utility>

namespace search::index {
namespace {

constexpr double kUnitsPerScore = 65536;

uint32_t ToUnits(double score) { return static_cast<uint32_t>(score * kUnitsPerScore + 0.5); }

// Also false for NaN.
bool IsWithin(float value, float low, float high) { return value >= low && value <= high; }

// The sum of 1 / distance over positions in `second` that follow one in `first`. Both ascend.
double SumInverseDistances(const std::vector<uint32_t>& first,
                           const std::vector<uint32_t>& second) {
  std::array<uint32_t, kProximityWindow + 1> counts = {};
  size_t begin = 0;
  for (const uint32_t place : first) {
    while (begin < second.size() && second[begin] <= place) ++begin;
    for (size_t i = begin; i < second.size() && second[i] - place <= kProximityWindow; ++i) {
      ++counts[second[i] - place];
    }
  }
  double sum = 0;
  for (uint32_t distance = 1; distance <= kProximityWindow; ++distance) {
    sum += static_cast<double>(counts[distance]) / distance;
  }
  return sum;
}

std::vector<double> FirstWords(std::vector<double> idfs) {
  if (idfs.size() > kSecondPhaseWordsMax) idfs.resize(kSecondPhaseWordsMax);
  return idfs;
}

}  // namespace

bool IsValid(const SecondPhaseWeights& weights) {
  return IsWithin(weights.proximity, 0, 1) && IsWithin(weights.title, 0, 1) &&
         IsWithin(weights.lead, 0, 1) && IsWithin(weights.lead_half, 1, 1000);
}

SecondPhase::SecondPhase(const SecondPhaseWeights& weights, float k1, std::vector<double> idfs)
    : weights_(weights), k1_(k1), idfs_(FirstWords(std::move(idfs))) {}

Gain SecondPhase::Rate(std::span<const WordPlaces> words, const DocumentShape& document) const {
  Gain gain;
  for (size_t s = 0; s < words.size() && weights_.proximity > 0; ++s) {
    const size_t end = std::min(words.size(), s + kProximityReach + 1);
    for (size_t t = s + 1; t < end; ++t) gain.proximity += RatePair(s, t, words, document);
  }
  gain.title = RateTitle(words, document);
  gain.lead = RateLead(words);
  return gain;
}

uint32_t SecondPhase::RatePair(size_t s, size_t t, std::span<const WordPlaces> words,
                               const DocumentShape& document) const {
  double nearness = 0;
  for (size_t field = 0; field < kFieldCount; ++field) {
    nearness += static_cast<double>(document.norms[field]) *
                SumInverseDistances(words[s].positions[field], words[t].positions[field]);
  }
  const double weight = static_cast<double>(weights_.proximity) * std::min(idfs_[s], idfs_[t]);
  return ToUnits(weight * (nearness / (k1_ + nearness)));
}

uint32_t SecondPhase::RateTitle(std::span<const WordPlaces> words,
                                const DocumentShape& document) const {
  uint32_t covered = 0;
  for (const WordPlaces& word : words) covered += word.frequencies[0];
  if (covered == 0 || !(document.title_length > 0)) return 0;
  const double cover = std::min(1.0, covered / static_cast<double>(document.title_length));
  uint32_t units = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].frequencies[0] == 0) continue;
    units += ToUnits(static_cast<double>(weights_.title) * idfs_[i] * (cover * cover));
  }
  return units;
}

uint32_t SecondPhase::RateLead(std::span<const WordPlaces> words) const {
  const auto half = static_cast<double>(weights_.lead_half);
  uint32_t units = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::vector<uint32_t>& body = words[i].positions[static_cast<size_t>(Field::kBody)];
    if (body.empty()) continue;
    units += ToUnits(static_cast<double>(weights_.lead) * idfs_[i] * (half / (half + body[0])));
  }
  return units;
}

}  // namespace search::index
