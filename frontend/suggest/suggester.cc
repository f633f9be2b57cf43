#include "frontend/suggest/suggester.h"

#include <algorithm>
#include <set>
#include <utility>

#include "frontend/suggest/both_tiers.h"
#include "frontend/suggest/cached_texts.pb.h"
#include "frontend/suggest/suggest_policy.h"
#include "index/core/query/query.h"
#include "index/suggest/spelling.h"
#include "index/tier/suggest.pb.h"
#include "index/tier/suggest_messages.h"
#include "index/tier/suggest_operators.h"
#include "index/tier/tier_service.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using index::CountAnswer;
using index::SpellAnswer;
using index::SuggestAnswer;
using neptune::ClientSession;
using neptune::Data;
using neptune::StatusOr;
using neptune::TimePoint;

// Number of spellings of a whole query whose documents are counted.
constexpr size_t kSpellingsCounted = 4;
// Increment when the meaning of the stored bytes changes.
constexpr int kStoredFormVersion = 1;

std::string SuggestionsKey(std::string_view typed) {
  return neptune::StrCat("suggest ", kStoredFormVersion, " ", typed);
}

std::string ToCachedForm(const std::vector<std::string>& texts) {
  CachedTexts cached;
  for (const std::string& text : texts) cached.add_texts(text);
  return cached.SerializeAsString();
}

// Returns false if the bytes were not written by ToCachedForm.
bool FromCachedForm(const std::string& bytes, std::vector<std::string>* texts) {
  CachedTexts cached;
  if (!cached.ParseFromString(bytes)) return false;
  texts->assign(cached.texts().begin(), cached.texts().end());
  return true;
}

index::CountQuery CountQueryOf(const std::vector<std::string>& canonicals, uint64_t index_version) {
  index::CountQuery query;
  for (const std::string& canonical : canonicals) query.add_queries(canonical);
  query.set_index_version(index_version);
  return query;
}

}  // namespace

Suggester::Suggester(neptune::Client& client, const SearchPlanOptions& options,
                     const PlanMetrics& metrics)
    : client_(client), options_(options), cache_(options, metrics) {}

StatusOr<SuggestedTexts> Suggester::Suggest(const SuggestOrder& order) {
  if (PartsToComplete(order.typed).empty()) return SuggestedTexts{.texts = {}, .is_complete = true};
  ClientSession session(client_);
  session.service_class = order.service_class;
  const auto version = [&] {
    return order.index_version != 0 ? order.index_version
                                    : index_version_.load(std::memory_order_relaxed);
  };
  const CacheEntryName entry = {SuggestionsKey(order.typed), version()};
  if (order.may_use_cache) {
    const CacheReply reply = cache_.Lookup(session, entry);
    SuggestedTexts cached{.texts = {}, .is_complete = true};
    if (reply.use.outcome == CacheUse::Outcome::kHit &&
        FromCachedForm(reply.value, &cached.texts)) {
      return cached;
    }
  }
  if (suggest_count_.fetch_add(1) >= options_.suggest_count_max) {
    --suggest_count_;
    return neptune::ResourceExhausted(options_.suggest_count_max,
                                      " completion requests are in progress");
  }
  SuggestedTexts suggested = Compute(session, order);
  --suggest_count_;
  if (suggested.is_complete) {
    cache_.InsertLater(session, {entry.key, version()}, ToCachedForm(suggested.texts));
  }
  return suggested;
}

SuggestedTexts Suggester::Compute(const ClientSession& session, const SuggestOrder& order) {
  const std::string& typed = order.typed;
  SuggestedTexts suggested;
  const TimePoint deadline = neptune::this_thread::Now() + options_.suggest_timeout;
  const std::vector<TypedPart> parts = PartsToComplete(typed);
  index::SuggestQuery query = MakeSuggestQuery(parts);
  query.set_index_version(order.index_version);
  const TierReplies replies = AskBothTiers(
      session,
      {index::kTierSuggestMethod, index::kSuggestReduceOperator, Data::Of(query), deadline},
      options_);
  suggested.is_complete = replies.is_complete;
  const auto answer =
      JoinReplies<SuggestAnswer>(replies, [&](const SuggestAnswer& a, const SuggestAnswer& b) {
        return index::MergeSuggestAnswers(a, b, query.count_max());
      });
  if (!answer) return suggested;
  index_version_.store(answer->index_version(), std::memory_order_relaxed);

  std::vector<Candidate> candidates = MakeCandidates(typed, parts, *answer);
  std::vector<std::string> doubtful;
  for (size_t i = 0; i < std::min(candidates.size(), kSuggestionCount); ++i) {
    if (!candidates[i].is_certain) doubtful.push_back(candidates[i].canonical);
  }
  std::set<std::string> found;
  if (!doubtful.empty()) {
    const Counts counts = Count(session, CountQueryOf(doubtful, order.index_version), deadline);
    suggested.is_complete &= counts.is_complete;
    for (size_t i = 0; i < doubtful.size(); ++i) {
      if (counts.totals[i] > 0) found.insert(doubtful[i]);
    }
  }
  for (Candidate& candidate : candidates) {
    if (suggested.texts.size() == kSuggestionCount) break;
    if (candidate.is_certain || found.contains(candidate.canonical)) {
      suggested.texts.push_back(std::move(candidate.text));
    }
  }
  return suggested;
}

Suggester::Counts Suggester::Count(const ClientSession& session, index::CountQuery query,
                                   TimePoint deadline) const {
  Counts counts;
  counts.totals.resize(static_cast<size_t>(query.queries_size()));
  if (neptune::this_thread::Now() >= deadline) return counts;
  const TierReplies replies = AskBothTiers(
      session, {index::kTierCountMethod, index::kCountReduceOperator, Data::Of(query), deadline},
      options_);
  const auto answer = JoinReplies<CountAnswer>(replies, index::MergeCountAnswers);
  counts.is_complete = replies.is_complete && answer.has_value();
  for (int i = 0; answer && i < std::min<int>(answer->counts_size(), query.queries_size()); ++i) {
    counts.totals[static_cast<size_t>(i)] = answer->counts(i).total();
    counts.is_complete &= answer->counts(i).is_exact();
  }
  return counts;
}

std::string SpellingResult::Best(uint64_t total) const {
  for (const OtherSpelling& other : others) {
    if (index::IsWorthProposing(total, other.total)) return other.text;
  }
  return {};
}

SpellingResult Suggester::Spell(const ClientSession& session, const SpellOrder& order) const {
  const std::vector<index::SpelledWord> words = index::WordsToSpell(order.query);
  if (words.empty()) return {.others = {}, .is_complete = true};
  index::SpellQuery spell_query = index::ToMessage(words);
  spell_query.set_index_version(order.index_version);
  const TierReplies replies = AskBothTiers(
      session,
      {index::kTierSpellMethod, index::kSpellReduceOperator, Data::Of(spell_query), order.deadline},
      options_);
  const auto answer =
      JoinReplies<SpellAnswer>(replies, [&](const SpellAnswer& a, const SpellAnswer& b) {
        return index::MergeSpellAnswers(a, b, spell_query);
      });
  SpellingResult result{.others = {}, .is_complete = replies.is_complete};
  if (!answer) return result;
  std::vector<std::string> canonicals;
  for (index::SpelledQuery& spelled : index::ComposeSpellings(
           order.query, words, index::FromMessage(*answer), kSpellingsCounted)) {
    const auto parsed = index::ParseQuery(spelled.text);
    if (!parsed.ok() || parsed->empty()) continue;
    result.others.push_back({.text = std::move(spelled.text), .total = 0});
    canonicals.push_back(index::Canonical(*parsed));
  }
  if (canonicals.empty()) return result;
  const Counts counts =
      Count(session, CountQueryOf(canonicals, order.index_version), order.deadline);
  result.is_complete &= counts.is_complete;
  for (size_t i = 0; i < canonicals.size(); ++i) result.others[i].total = counts.totals[i];
  std::erase_if(result.others, [](const OtherSpelling& other) { return other.total == 0; });
  return result;
}

}  // namespace search::frontend
