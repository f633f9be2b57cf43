#include "frontend/suggest/suggester.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "frontend/suggest/both_tiers.h"
#include "frontend/suggest/cached_texts.pb.h"
#include "frontend/suggest/suggest_policy.h"
#include "index/core/query/query.h"
#include "index/suggest/spelling.h"
#include "index/suggest/spelling_format.h"
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

Suggester::Suggester(const SearchPlanOptions& options, const PlanMetrics& metrics)
    : options_(options), cache_(options, metrics) {}

StatusOr<SuggestedTexts> Suggester::Suggest(ClientSession& session, const SuggestOrder& order) {
  if (PartsToComplete(order.typed).empty()) return SuggestedTexts{.texts = {}, .is_complete = true};
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
      if (reply.lacking) cache_.Refill(session, entry, reply, options_.cache_time_to_live);
      return cached;
    }
  }
  if (suggest_count_.fetch_add(1) >= options_.suggest_count_max) {
    --suggest_count_;
    return neptune::ResourceExhausted(options_.suggest_count_max,
                                      " completion requests are in progress");
  }
  const TimePoint begin = neptune::this_thread::Now();
  SuggestedTexts suggested = Compute(session, order);
  --suggest_count_;
  if (suggested.is_complete) {
    const CacheEntryName made = {
        .key = entry.key, .index_version = version(), .cost = neptune::this_thread::Now() - begin};
    cache_.InsertLater(session, made, ToCachedForm(suggested.texts), options_.cache_time_to_live);
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

StatusOr<SpellAnswer> Suggester::AskDictionary(const ClientSession& session,
                                               const SpellOrder& order) const {
  index::SpellQuery query = index::ToMessage(order.words);
  query.set_index_version(order.index_version);
  const uint32_t copies = std::min(index::kDictionaryCopies, options_.tier1_partitions);
  const auto first = static_cast<uint32_t>(std::hash<std::string>()(order.query) % copies);
  neptune::Status status = neptune::DeadlineExceeded("no partition spelled in time");
  for (uint32_t attempt = 0; attempt < 2; ++attempt) {
    const TimePoint now = neptune::this_thread::Now();
    if (now >= order.deadline) break;
    ClientSession own = session;
    neptune::CallOptions call;
    call.deadline = attempt == 0 ? now + (order.deadline - now) / 2 : order.deadline;
    Data data;
    status =
        neptune::Call(own,
                      {neptune::ServiceName(index::kTier1Service),
                       neptune::PartitionId((first + attempt) % copies),
                       neptune::MethodName(index::kTierSpellMethod), neptune::AccessMode::kRead},
                      Data::Of(query), &data, call);
    if (!status.ok()) continue;
    NEPTUNE_ASSIGN_OR_RETURN(const SpellAnswer* const answer, data.As<SpellAnswer>());
    return *answer;
  }
  return status;
}

SpellingResult Suggester::Spell(const ClientSession& session, const SpellOrder& order) const {
  const StatusOr<SpellAnswer> answer = AskDictionary(session, order);
  if (!answer.ok()) {
    // An index without a dictionary spells nothing.
    const bool is_offered = answer.status().code() != neptune::StatusCode::kUnimplemented;
    return {.best = std::nullopt, .is_complete = !is_offered};
  }
  std::vector<index::SpelledQuery> spelled = index::ComposeSpellings(
      order.query, order.words, index::FromMessage(*answer), /*count_max=*/1);
  if (spelled.empty()) return {.best = std::nullopt, .is_complete = true};
  SpellingResult result{.best = std::move(spelled[0]), .is_complete = true};
  if (!order.must_match) return result;
  const auto parsed = index::ParseQuestion(result.best->text);
  if (!parsed.ok() || parsed->empty()) return {.best = std::nullopt, .is_complete = true};
  const Counts counts = Count(
      session, CountQueryOf({index::Canonical(*parsed)}, order.index_version), order.deadline);
  result.is_complete = counts.is_complete;
  if (counts.totals[0] == 0) result.best.reset();
  return result;
}

}  // namespace search::frontend
