// State of a search in progress, which the steps of the plan pass on. Internal to search_plan.
//
// Threads: the search's user-level thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/policy/plan_policy.h"
#include "frontend/policy/question_reading.h"
#include "frontend/policy/step_budget.h"
#include "frontend/search_plan/cache_lookup.h"
#include "frontend/search_plan/search_plan.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/strings.h"
#include "neptune/service/client.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {

inline bool IsGone(const neptune::ClientSession& session) {
  return session.caller() != nullptr && neptune::IsCancelled(*session.caller());
}

// The error of a search whose client is gone; OK while it is there.
inline neptune::Status CheckClient(const neptune::ClientSession& session) {
  return IsGone(session) ? neptune::Cancelled("the client is gone") : neptune::OkStatus();
}

// Letters that tell pages of one canonical query apart in the cache.
inline std::string VariantOf(const SearchOrder& order) {
  return neptune::StrCat(order.count_sites ? "s" : "", order.by_date ? "d" : "",
                         order.may_correct ? "" : "t", order.may_relax ? "" : "x",
                         order.is_plain ? "p" : "");
}

// What the cache has done for an answer that was computed meanwhile. An entry that comes after that
// is too late.
inline CacheUse UseOf(const std::optional<CacheReply>& reply) {
  if (reply && reply->use.outcome != CacheUse::Outcome::kHit) return reply->use;
  return {.outcome = CacheUse::Outcome::kFailed};
}

struct SearchPlan::Progress {
  // The time of the whole search.
  StepBudget budget;
  SearchAnswer* answer = nullptr;
  neptune::TimePoint received;
  // What is searched for, and how it is read.
  QuestionText question;
  QuestionReading reading;
  // A spelling that can hardly be wrong, although what it demands finds nothing; empty: none.
  std::string sure_spelling;
  bool spelling_is_late = false;
  // A step was left out because the client is gone.
  bool is_abandoned = false;
  // There was no time to search for what is left of the demands.
  bool relaxing_is_late = false;
  PageWindow page;
  CacheEntryName entry;
  // The index to ask, even if another version becomes current meanwhile.
  AskedIndex asked;
  // The ranked hits, how many of the first are sure (TwoTiersAnswer), and their index version.
  index::TierAnswer hits;
  uint32_t sure_count = UINT32_MAX;
  IndexState index;
  // Documents with each of the words; empty: not known.
  std::vector<uint64_t> word_counts;
  // What all searches of the request together did to the servers.
  neptune::RequestEnd load;
  // Asks the cache while the search goes on; null: it has been asked before.
  std::shared_ptr<CacheLookup> lookup;

  void NameEntryOf(const IndexState& state) {
    entry.index_version = state.version;
    entry.ages = state.epoch != 0;
  }
  // REQUIRES: the question is read.
  void NameEntry(std::string_view variant, const SearchPlanOptions& options) {
    entry.key = CacheKey(reading.canonical, page, variant, asked.version);
    if (options.hides_cache_keys) {
      entry.key = HiddenCacheKey(entry.key, options.cache_key_secret);
    }
    if (asked.version != 0) entry.index_version = asked.version;
  }
  // True if the client is gone, so that the step about to begin is left out.
  bool Abandons(const neptune::ClientSession& session) {
    is_abandoned = is_abandoned || IsGone(session);
    return is_abandoned;
  }
  // Continues with the progress of another reading; the answer stays where it is.
  void Adopt(Progress other) {
    other.answer = answer;
    *this = std::move(other);
  }
  neptune::TimePoint LookupEnd(const SearchPlanOptions& options) const {
    return budget.EndOf(BudgetStep::kCache, 2 * options.cache_timeout, neptune::this_thread::Now());
  }
  neptune::TimePoint DetailsEnd(const SearchPlanOptions& options) const {
    return budget.EndOf(BudgetStep::kDetails, options.tier_timeout, neptune::this_thread::Now());
  }
};

}  // namespace search::frontend
