#include "index/tier/segment/segment_messages.h"

#include <algorithm>
#include <utility>

#include "index/core/query/scoring_words.h"
#include "index/suggest/spelling.h"
#include "index/tier/operators.h"
#include "index/tier/search_input.h"
#include "index/tier/suggest_messages.h"
#include "index/tier/suggest_operators.h"

namespace search::index {

SearchOptions ToSearchOptions(const TierQuery& tier_query, const TierSearchControl& control) {
  SearchOptions options;
  options.k = tier_query.hit_count_max();
  options.count_exactly = tier_query.count_exactly();
  options.stop = StopFunction(control);
  options.expect = control.expect;
  options.second_phase_count = tier_query.second_phase_count();
  options.by_date = tier_query.order_by_date();
  if (const uint32_t limit = ShareLimit(tier_query); limit > 0) {
    options.k = std::min<size_t>(options.k, limit);
    options.second_phase_count = std::min<size_t>(options.second_phase_count, limit);
  }
  return options;
}

namespace {

// All hits of a share are rated, as those of a whole answer would be.
void CutToShare(const TierQuery& tier_query, const SearchResult& result, TierAnswer* answer) {
  const uint32_t limit = ShareLimit(tier_query);
  if (limit == 0) return;
  if (result.second_phase_count > 0) {
    answer->set_second_phase_count(tier_query.second_phase_count());
  }
  const bool has_all = result.total_is_exact && result.total <= result.hits.size();
  if (result.hits.size() >= limit && !has_all) NoteCut(answer);
}

}  // namespace

TierAnswer ToAnswer(const TierQuery& tier_query, const SearchResult& result,
                    uint64_t index_version) {
  TierAnswer answer;
  for (const Hit& hit : result.hits) {
    TierHit* const added = answer.add_hits();
    added->set_doc_id(hit.doc_id);
    added->set_score(hit.score);
    if (hit.gain > 0) added->set_gain(hit.gain);
    if (hit.lacks != 0) added->set_lacks(hit.lacks);
  }
  answer.set_second_phase_count(static_cast<uint32_t>(result.second_phase_count));
  answer.set_second_phase_lacks_positions(result.second_phase_lacks_positions);
  answer.set_prefix_is_cut(result.prefix_is_cut);
  answer.set_phrase_is_left_out(result.phrase_is_left_out);
  answer.set_undated_count(result.undated);
  answer.set_total(result.total);
  answer.set_total_is_exact(result.total_is_exact);
  answer.set_evaluated_completely(result.complete);
  answer.set_implementation(kSegmentTierName);
  answer.set_index_version(index_version);
  CutToShare(tier_query, result, &answer);
  return answer;
}

neptune::Status AddWordCounts(const std::vector<const Segment*>& segments, const Query& query,
                              TierAnswer* answer) {
  for (const ScoringWord& word : ScoringWords(query)) {
    uint64_t count = 0;
    for (const Segment* const segment : segments) {
      NEPTUNE_ASSIGN_OR_RETURN(const auto entry, segment->terms().Find(word.term));
      if (entry.has_value()) count += entry->document_frequency;
    }
    answer->add_word_document_counts(static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX)));
  }
  return neptune::OkStatus();
}

neptune::StatusOr<SuggestionFiles> SuggestionFiles::Open(const std::string& directory) {
  SuggestionFiles files;
  auto suggestions = SuggestionIndex::Open(directory);
  if (suggestions.status().code() == neptune::StatusCode::kNotFound) return files;
  NEPTUNE_ASSIGN_OR_RETURN(files.suggestions, std::move(suggestions));
  auto dictionary = SpellingDictionary::Open(directory);
  if (dictionary.status().code() == neptune::StatusCode::kNotFound) return files;
  NEPTUNE_ASSIGN_OR_RETURN(files.dictionary, std::move(dictionary));
  return files;
}

neptune::StatusOr<SuggestAnswer> SuggestionFiles::Suggest(const SuggestQuery& query,
                                                          uint64_t index_version) const {
  if (suggestions == nullptr) return neptune::Unimplemented("the index has no suggestions");
  SuggestAnswer answer;
  for (int i = 0; i < query.prefixes_size(); ++i) {
    SuggestAnswer more;
    for (const Completion& completion :
         suggestions->Complete(query.prefixes(i), query.count_max())) {
      *more.add_suggestions() = ToMessage(completion, static_cast<uint32_t>(i));
    }
    answer = MergeSuggestAnswers(answer, more, query.count_max());
    if (answer.suggestions_size() == static_cast<int>(query.count_max())) break;
  }
  NEPTUNE_RETURN_IF_ERROR(suggestions->CheckSound());
  answer.set_index_version(index_version);
  return answer;
}

neptune::StatusOr<SpellAnswer> SuggestionFiles::Spell(const SpellQuery& query,
                                                      uint64_t index_version) const {
  if (dictionary == nullptr) return neptune::Unimplemented("the partition has no dictionary");
  SpellAnswer answer = ToMessage(FindSpellings(*dictionary, FromMessage(query)));
  NEPTUNE_RETURN_IF_ERROR(dictionary->CheckSound());
  answer.set_index_version(index_version);
  return answer;
}

}  // namespace search::index
