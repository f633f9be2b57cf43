// Asks the index tiers: tier 1, and tier 2 unless it cannot change the page, both at once if it
// probably can.
//
// Source: [Chu03] 3.3; when tier 2 is needed: frontend/policy/tier_bound.h.
// If tier 2 turns out not to be needed while it is being asked, its servers stop.
//
// Threads: on a user-level thread; tier 2 is asked from another one of the same loop.

#pragma once

#include <cstddef>
#include <memory>

#include "frontend/model/answer.h"
#include "frontend/policy/plan_metrics.h"
#include "frontend/policy/plan_options.h"
#include "frontend/policy/plan_policy.h"
#include "frontend/policy/skip_forecast.h"
#include "frontend/policy/step_budget.h"
#include "frontend/policy/tier_bound.h"
#include "frontend/search_plan/tier_aggregation.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"
#include "neptune/service/client.h"

namespace search::frontend {

struct TierQuestion {
  index::TierQuery query;
  PageWindow page;
  BoundedQuery bounded;
  neptune::TimePoint received;  // the request's arrival, for the steps of the answer
  StepBudget budget;

  // Number of words, as SkipForecast counts them.
  size_t word_count() const { return bounded.is_bounded ? bounded.demanded.size() : 0; }
};

struct TwoTiersAnswer {
  // The hits of the tiers that were asked and answered, ranked together. The error of tier 1 if it
  // failed and tier 2 was not asked, failed too or has no hits.
  neptune::StatusOr<index::TierAnswer> hits = index::TierAnswer();
  uint64_t tier1_epoch = 0;
  Tier2Need need = Tier2Need::kNone;
  // Share of the page's results that are those of a single index.
  double sure_share = 1;
  // Number of the first hits that are those of a single index.
  uint32_t sure_count = UINT32_MAX;
  // No document of a tier that was not asked matches.
  bool is_whole = true;
  // Every tier that has documents was asked.
  bool saw_all_sites = true;
  // Tier 2 answered.
  bool has_tier2 = false;
};

class TwoTiers {
 public:
  // All outlive the object.
  TwoTiers(const SearchPlanOptions& options, const PlanMetrics& metrics, SkipForecast* forecast)
      : options_(options), metrics_(metrics), forecast_(forecast) {}

  // Adds steps and coverage of each tier to *answer.
  TwoTiersAnswer Ask(const neptune::ClientSession& session, const TierQuestion& question,
                     SearchAnswer* answer);

 private:
  struct Tier2Call;

  std::shared_ptr<Tier2Call> BeginTier2(const neptune::ClientSession& session,
                                        const TierQuestion& question);
  neptune::StatusOr<index::TierAnswer> AwaitTier2(Tier2Call* call, const TierQuestion& question,
                                                  SearchAnswer* answer) const;
  neptune::StatusOr<index::TierAnswer> AskTier1(const neptune::ClientSession& session,
                                                const TierQuestion& question,
                                                SearchAnswer* answer) const;
  // Decides on tier 2 and records the decision.
  void Decide(const TierQuestion& question, TwoTiersAnswer* outcome) const;
  bool AsksAtOnce(const TierQuestion& question) const;

  TierTerms TermsOf(const TierQuestion& question) const;

  const SearchPlanOptions& options_;
  const PlanMetrics& metrics_;
  SkipForecast* const forecast_;
};

}  // namespace search::frontend
