// Any bytes as messages between frontends and index tiers: queries are refused or read, and answers
// are reduced, as operators of the aggregation call and as a frontend uses what they give. A merge
// keeps its limits, and its bytes are a message again.
//
// The first byte chooses the messages; then come two sizes of two bytes, the first answer, the
// second one, and the query or what the answers belong to.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "index/suggest/spelling.h"
#include "index/tier/explain_operators.h"
#include "index/tier/facet_operators.h"
#include "index/tier/operators.h"
#include "index/tier/search_input.h"
#include "index/tier/suggest_messages.h"
#include "index/tier/suggest_operators.h"
#include "index/tier/title_operators.h"
#include "neptune/base/byte_order.h"
#include "tools/bazel/fuzz/place.h"

namespace search::index {
namespace {

neptune::FuzzPlace merged_hits("answers with hits are merged");
neptune::FuzzPlace merged_suggestions("suggestions are merged");
neptune::FuzzPlace merged_counts("counts are merged");
neptune::FuzzPlace merged_explanations("explanations are merged");
neptune::FuzzPlace merged_facets("counts by site are merged");
neptune::FuzzPlace merged_titles("titles are merged");
neptune::FuzzPlace composed_spelling("a spelling is composed");
neptune::FuzzPlace read_query("a query is read");

struct Parts {
  std::string_view first;
  std::string_view second;
  std::string_view rest;
};

Parts Split(std::string_view bytes) {
  neptune::ByteReader in(bytes);
  const size_t first = in.Number<uint16_t>();
  const size_t second = in.Number<uint16_t>();
  if (in.failed()) return {};
  bytes.remove_prefix(2 * sizeof(uint16_t));
  Parts parts;
  parts.first = bytes.substr(0, first);
  bytes.remove_prefix(parts.first.size());
  parts.second = bytes.substr(0, second);
  parts.rest = bytes.substr(parts.second.size());
  return parts;
}

template <typename Message>
bool Parse(std::string_view bytes, Message* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// What a reduce operator gives is sent on, and read by the next one.
template <typename Message>
void CheckIsMessage(const Message& merged) {
  const std::string bytes = merged.SerializeAsString();
  Message again;
  CHECK(Parse(bytes, &again));
  CHECK(again.SerializeAsString() == bytes);
}

template <typename Message, typename Merge>
void CheckMerge(const Parts& parts, neptune::FuzzPlace& place, const Merge& merge) {
  Message a;
  Message b;
  if (!Parse(parts.first, &a) || !Parse(parts.second, &b)) return;
  if (!parts.first.empty() && !parts.second.empty()) place.Reach();
  CheckIsMessage(merge(a, b));
  CheckIsMessage(merge(b, a));
  CheckIsMessage(merge(merge(a, b), a));
}

void CheckTierAnswers(const Parts& parts) {
  TierQuery query;
  if (!Parse(parts.rest, &query)) return;
  CheckMerge<TierAnswer>(parts, merged_hits, [&](const TierAnswer& a, const TierAnswer& b) {
    TierAnswer merged = MergeTierAnswers(a, b, query.hit_count_max());
    const uint32_t limit = std::max(query.hit_count_max(), merged.second_phase_count());
    CHECK_LE(static_cast<uint32_t>(merged.hits_size()), limit);
    for (int i = 1; i < merged.hits_size(); ++i) {
      CHECK(!(FinalScore(merged.hits(i)) > FinalScore(merged.hits(i - 1))));
    }
    (void)LacksHits(merged, query.hit_count_max());
    return merged;
  });
}

void CheckSuggestions(const Parts& parts) {
  SuggestQuery query;
  if (!Parse(parts.rest, &query)) return;
  CheckMerge<SuggestAnswer>(
      parts, merged_suggestions, [&](const SuggestAnswer& a, const SuggestAnswer& b) {
        SuggestAnswer merged = MergeSuggestAnswers(a, b, query.count_max());
        CHECK_LE(static_cast<uint32_t>(merged.suggestions_size()), query.count_max());
        for (const Suggestion& suggestion : merged.suggestions()) {
          CHECK_LE(FromMessage(suggestion).start, suggestion.key().size());
        }
        return merged;
      });
}

// The rest is what the user typed.
void CheckSpellings(const Parts& parts) {
  SpellAnswer answer;
  if (!Parse(parts.first, &answer)) return;
  constexpr size_t kWanted = 3;
  const std::string_view typed = parts.rest.substr(0, 200);
  const Spellings spellings = FromMessage(answer);
  CheckIsMessage(ToMessage(spellings));
  const auto composed = ComposeSpellings(typed, WordsToSpell(typed), spellings, kWanted);
  CHECK_LE(composed.size(), kWanted);
  if (!composed.empty()) composed_spelling.Reach();
  SpellQuery query;
  if (Parse(parts.second, &query)) CheckIsMessage(ToMessage(FromMessage(query)));
}

void CheckQueries(const Parts& parts) {
  TierQuery query;
  if (!Parse(parts.rest, &query)) return;
  const auto parsed = ReadTierQuery(query);
  if (!ValidateTierQuery(query).ok() || !parsed.ok()) return;
  read_query.Reach();
  CHECK_LE(query.hit_count_max(), kTierHitCountMax);
  CHECK_LE(query.query().size(), kTierQuerySizeMax);
  (void)CheckForEngine(query, **parsed).ok();
  (void)ShareLimit(query);
}

void Run(uint8_t which, const Parts& parts) {
  switch (which % 8) {
    case 0:
      return CheckTierAnswers(parts);
    case 1:
      return CheckSuggestions(parts);
    case 2:
      return CheckMerge<CountAnswer>(parts, merged_counts, MergeCountAnswers);
    case 3:
      return CheckMerge<ExplainAnswer>(parts, merged_explanations, MergeExplainAnswers);
    case 4:
      return CheckMerge<FacetAnswer>(parts, merged_facets, MergeFacetAnswers);
    case 5:
      return CheckMerge<TitlesAnswer>(parts, merged_titles, MergeTitlesAnswers);
    case 6:
      return CheckSpellings(parts);
    default:
      return CheckQueries(parts);
  }
}

}  // namespace
}  // namespace search::index

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  search::index::Run(data[0], search::index::Split(bytes));
  return 0;
}
