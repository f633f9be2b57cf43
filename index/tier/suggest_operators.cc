#include "index/tier/suggest_operators.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "index/suggest/spelling.h"
#include "index/suggest/suggestion_index.h"
#include "index/tier/suggest_messages.h"

namespace search::index {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr size_t kPrefixSizeMax = 200;

Status Validate(const SuggestQuery& query) {
  if (query.prefixes_size() < 1 || query.prefixes_size() > kSuggestPrefixesMax) {
    return InvalidArgument("suggest: ", query.prefixes_size(), " prefixes, not 1 to ",
                           kSuggestPrefixesMax);
  }
  if (query.count_max() < 1 || query.count_max() > kSuggestionsMax) {
    return InvalidArgument("suggest: count_max is ", query.count_max(), ", not 1 to ",
                           kSuggestionsMax);
  }
  for (const std::string& prefix : query.prefixes()) {
    if (prefix.size() > kPrefixSizeMax) {
      return InvalidArgument("suggest: a prefix of ", prefix.size(), " bytes");
    }
  }
  return neptune::OkStatus();
}

Status Validate(const SpellQuery& query) {
  if (query.words_size() > static_cast<int>(kSpelledWordsMax)) {
    return InvalidArgument("spell: ", query.words_size(), " words, at most ", kSpelledWordsMax);
  }
  for (const SpellQueryWord& word : query.words()) {
    if (word.folded().size() > kPrefixSizeMax) {
      return InvalidArgument("spell: a word of ", word.folded().size(), " bytes");
    }
  }
  return neptune::OkStatus();
}

bool IsBetter(const Suggestion& a, const Suggestion& b) {
  if (a.prefix_index() != b.prefix_index()) return a.prefix_index() < b.prefix_index();
  return IsBetterCompletion(FromMessage(a), FromMessage(b));
}

}  // namespace

StatusOr<SuggestAnswer> SuggestOperator(const IndexTier& tier, const SuggestQuery& query) {
  NEPTUNE_RETURN_IF_ERROR(Validate(query));
  return tier.Suggest(query);
}

SuggestAnswer MergeSuggestAnswers(const SuggestAnswer& a, const SuggestAnswer& b,
                                  uint32_t count_max) {
  std::vector<Suggestion> all(a.suggestions().begin(), a.suggestions().end());
  all.insert(all.end(), b.suggestions().begin(), b.suggestions().end());
  std::stable_sort(all.begin(), all.end(), IsBetter);
  SuggestAnswer merged;
  merged.set_index_version(std::min(a.index_version(), b.index_version()));
  std::unordered_set<std::string> keys;
  for (Suggestion& suggestion : all) {
    if (merged.suggestions_size() == static_cast<int>(count_max)) break;
    if (keys.insert(suggestion.key()).second) *merged.add_suggestions() = std::move(suggestion);
  }
  return merged;
}

StatusOr<SpellAnswer> SpellOperator(const IndexTier& tier, const SpellQuery& query) {
  NEPTUNE_RETURN_IF_ERROR(Validate(query));
  return tier.Spell(query);
}

StatusOr<CountAnswer> CountOperator(const IndexTier& tier, const CountQuery& query,
                                    const TierSearchControl& control) {
  if (query.queries_size() < 1 || query.queries_size() > kCountedQueriesMax) {
    return InvalidArgument("count: ", query.queries_size(), " queries, not 1 to ",
                           kCountedQueriesMax);
  }
  CountAnswer answer;
  for (const std::string& text : query.queries()) {
    TierQuery tier_query;
    tier_query.set_query(text);
    tier_query.set_hit_count_max(1);
    tier_query.set_count_exactly(true);
    NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer found, tier.Search(tier_query, control));
    QueryCount* const count = answer.add_counts();
    count->set_total(found.total());
    count->set_is_exact(found.total_is_exact());
  }
  answer.set_index_version(tier.Info().index_version);
  return answer;
}

CountAnswer MergeCountAnswers(const CountAnswer& a, const CountAnswer& b) {
  CountAnswer merged;
  merged.set_index_version(std::min(a.index_version(), b.index_version()));
  for (int i = 0; i < std::min(a.counts_size(), b.counts_size()); ++i) {
    QueryCount* const count = merged.add_counts();
    const uint64_t total = a.counts(i).total();
    const uint64_t other = b.counts(i).total();
    count->set_total(other > UINT64_MAX - total ? UINT64_MAX : total + other);
    count->set_is_exact(a.counts(i).is_exact() && b.counts(i).is_exact());
  }
  return merged;
}

}  // namespace search::index
