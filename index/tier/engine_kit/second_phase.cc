#include "index/tier/engine_kit/second_phase.h"

#include <algorithm>
#include <map>
#include <utility>

#include "index/core/search/search_result.h"
#include "index/core/segment/length_code.h"
#include "index/tier/operators.h"

namespace search::index {
namespace {

std::vector<ScoringWord> CountedWords(const Query& query) {
  std::vector<ScoringWord> words = ScoringWords(query);
  words.resize(std::min(words.size(), kSecondPhaseWordsMax));
  return words;
}

SecondPhase PhaseFor(const std::vector<ScoringWord>& words, const RatingSpace& space) {
  std::vector<double> idfs;
  for (size_t i = 0; i < words.size(); ++i) {
    idfs.push_back(
        InverseDocumentFrequency(space.collection_document_count, space.document_frequencies[i]));
  }
  return SecondPhase(SecondPhaseWeights(), space.scorer.k1(), std::move(idfs));
}

DocumentShape ShapeOf(uint32_t length_codes, const Scorer& scorer) {
  DocumentShape shape;
  for (size_t field = 0; field < kFieldCount; ++field) {
    shape.norms[field] = scorer.Norm(static_cast<Field>(field), length_codes);
  }
  shape.title_length = DecodeLength(static_cast<uint8_t>(length_codes));
  return shape;
}

}  // namespace

neptune::Status RunSecondPhase(const TierQuery& tier_query, const Query& query,
                               const RatingSpace& space, const std::vector<uint32_t>& ordinals,
                               const std::function<bool()>& stop, TierAnswer* answer) {
  const std::vector<ScoringWord> words = CountedWords(query);
  const SecondPhase phase = PhaseFor(words, space);
  std::map<uint32_t, int> hit_by_ordinal;
  const auto hit_count = static_cast<uint32_t>(answer->hits_size());
  for (uint32_t i = 0; i < std::min(hit_count, tier_query.second_phase_count()); ++i) {
    hit_by_ordinal[ordinals[i]] = static_cast<int>(i);
  }
  std::map<int, uint32_t> gains;
  std::map<int, uint64_t> lacks;
  for (const auto& [ordinal, hit] : hit_by_ordinal) {
    answer->set_evaluated_completely(!(stop && stop()));
    if (!answer->evaluated_completely()) return neptune::OkStatus();
    std::vector<WordPlaces> places(words.size());
    for (size_t i = 0; i < words.size(); ++i) {
      NEPTUNE_RETURN_IF_ERROR(space.read_places(words[i], ordinal, &places[i]));
      if (i < kLackableWordsMax && !places[i].occurs()) lacks[hit] |= uint64_t{1} << i;
    }
    gains[hit] = phase.Rate(places, ShapeOf(space.length_codes(ordinal), space.scorer)).units();
  }
  for (const auto& [hit, units] : gains) {
    if (units > 0) answer->mutable_hits(hit)->set_gain(ToGain(units));
  }
  for (const auto& [hit, words_lacked] : lacks) answer->mutable_hits(hit)->set_lacks(words_lacked);
  answer->set_second_phase_count(tier_query.second_phase_count());
  KeepBest(tier_query.hit_count_max(), answer);
  return neptune::OkStatus();
}

}  // namespace search::index
