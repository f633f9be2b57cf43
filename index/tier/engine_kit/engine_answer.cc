#include "index/tier/engine_kit/engine_answer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "index/core/query/scoring_words.h"
#include "index/tier/engine_kit/second_phase.h"

namespace search::index {
namespace {

bool RanksBefore(const Match& a, const Match& b) {
  const float score_a = ToScore(a.units);
  const float score_b = ToScore(b.units);
  return score_a != score_b ? score_a > score_b : a.ordinal < b.ordinal;
}

neptune::StatusOr<std::vector<uint64_t>> FrequenciesOf(const std::vector<ScoringWord>& words,
                                                       EngineSearcher* searcher) {
  std::vector<uint64_t> frequencies;
  for (const ScoringWord& word : words) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint64_t frequency, searcher->DocumentFrequency(word.term));
    frequencies.push_back(frequency);
  }
  return frequencies;
}

// The best `count`, best first.
neptune::Status KeepBestMatches(size_t document_count, size_t count, std::vector<Match>* matches) {
  for (const Match& match : *matches) {
    if (match.ordinal >= document_count) {
      return neptune::DataLoss("search: document ", match.ordinal, " of ", document_count);
    }
  }
  const size_t kept = std::min(count, matches->size());
  std::partial_sort(matches->begin(), matches->begin() + static_cast<ptrdiff_t>(kept),
                    matches->end(), RanksBefore);
  matches->resize(kept);
  return neptune::OkStatus();
}

TierAnswer ToAnswer(const EnginePartition& partition, const Found& found) {
  TierAnswer answer;
  for (const Match& match : found.matches) {
    TierHit* const hit = answer.add_hits();
    hit->set_doc_id(partition.documents[match.ordinal].doc_id);
    hit->set_score(ToScore(match.units));
  }
  answer.set_total(found.is_complete ? found.total_min : found.matches.size());
  answer.set_total_is_exact(found.is_complete && found.total_min == found.total_max);
  answer.set_evaluated_completely(found.is_complete);
  answer.set_implementation(std::string(partition.name));
  answer.set_index_version(partition.index_version);
  return answer;
}

RatingSpace SpaceOf(const EnginePartition& partition, EngineSearcher* searcher,
                    const std::vector<uint64_t>& frequencies) {
  const auto read_places = [searcher](const ScoringWord& word, uint32_t ordinal,
                                      WordPlaces* places) {
    for (size_t i = 0; i < (word.title_only ? 1 : kFieldCount); ++i) {
      NEPTUNE_RETURN_IF_ERROR(searcher->ReadPositions(word.term, static_cast<Field>(i), ordinal,
                                                      &places->positions[i]));
      places->frequencies[i] = static_cast<uint32_t>(places->positions[i].size());
    }
    return neptune::OkStatus();
  };
  const auto codes = [&partition](uint32_t ordinal) {
    return partition.documents[ordinal].length_codes;
  };
  return {partition.scorer, partition.collection.document_count, codes, frequencies, read_places};
}

}  // namespace

neptune::StatusOr<TierAnswer> AnswerByEngine(const EnginePartition& partition,
                                             const TierQuery& tier_query, const Query& query,
                                             const std::function<bool()>& stop,
                                             EngineSearcher* searcher) {
  std::vector<ScoringWord> words = ScoringWords(query);
  NEPTUNE_ASSIGN_OR_RETURN(const auto frequencies, FrequenciesOf(words, searcher));
  const QueryScore score(partition, std::move(words), frequencies);
  const uint32_t count = std::max(tier_query.hit_count_max(), tier_query.second_phase_count());
  NEPTUNE_ASSIGN_OR_RETURN(Found found,
                           searcher->Find({query, score, count, tier_query.count_exactly(), stop}));
  NEPTUNE_RETURN_IF_ERROR(KeepBestMatches(partition.documents.size(), count, &found.matches));
  TierAnswer answer = ToAnswer(partition, found);
  if (tier_query.second_phase_count() == 0 || !found.is_complete) return answer;
  std::vector<uint32_t> ordinals;
  for (const Match& match : found.matches) ordinals.push_back(match.ordinal);
  NEPTUNE_RETURN_IF_ERROR(RunSecondPhase(
      tier_query, query, SpaceOf(partition, searcher, frequencies), ordinals, stop, &answer));
  return answer;
}

}  // namespace search::index
