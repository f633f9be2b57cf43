#include "index/tier/segment/segment_messages.h"

#include "index/suggest/spelling.h"
#include "index/tier/search_input.h"
#include "index/tier/suggest_messages.h"
#include "index/tier/suggest_operators.h"

namespace search::index {

SearchOptions ToSearchOptions(const TierQuery& tier_query, const TierSearchControl& control) {
  SearchOptions options;
  options.k = tier_query.hit_count_max();
  options.count_exactly = tier_query.count_exactly();
  options.stop = StopFunction(control);
  options.second_phase_count = tier_query.second_phase_count();
  options.by_date = tier_query.order_by_date();
  return options;
}

TierAnswer ToAnswer(const SearchResult& result, uint64_t index_version) {
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
  answer.set_undated_count(result.undated);
  answer.set_total(result.total);
  answer.set_total_is_exact(result.total_is_exact);
  answer.set_evaluated_completely(result.complete);
  answer.set_implementation(kSegmentTierName);
  answer.set_index_version(index_version);
  return answer;
}

neptune::StatusOr<std::unique_ptr<SuggestionIndex>> OpenSuggestions(const std::string& directory) {
  auto suggestions = SuggestionIndex::Open(directory);
  if (suggestions.status().code() == neptune::StatusCode::kNotFound) return nullptr;
  return suggestions;
}

SuggestAnswer Complete(const SuggestionIndex& suggestions, const SuggestQuery& query,
                       uint64_t index_version) {
  SuggestAnswer answer;
  for (int i = 0; i < query.prefixes_size(); ++i) {
    SuggestAnswer more;
    for (const Completion& completion :
         suggestions.Complete(query.prefixes(i), query.count_max())) {
      *more.add_suggestions() = ToMessage(completion, static_cast<uint32_t>(i));
    }
    answer = MergeSuggestAnswers(answer, more, query.count_max());
    if (answer.suggestions_size() == static_cast<int>(query.count_max())) break;
  }
  answer.set_index_version(index_version);
  return answer;
}

SpellAnswer FindSpellings(const SuggestionIndex& suggestions, const SpellQuery& query,
                          uint64_t index_version) {
  SpellAnswer answer = ToMessage(FindSpellings(suggestions, FromMessage(query)));
  answer.set_index_version(index_version);
  return answer;
}

}  // namespace search::index
