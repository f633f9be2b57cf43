#include "frontend/search_plan/two_tiers.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "frontend/search_plan/tier_search.h"
#include "index/tier/operators.h"
#include "index/tier/tier_service.h"
#include "neptune/service/cancellation.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using index::TierAnswer;
using neptune::ClientSession;
using neptune::StatusOr;
using neptune::TimePoint;

// Time after the deadline of an aggregation by which its result has been delivered.
constexpr neptune::Duration kDeadlineSlack = std::chrono::milliseconds(20);

constexpr char kTier1Label[] = "tier 1";
constexpr char kTier2Label[] = "tier 2";

}  // namespace

// Shared with the thread that asks tier 2, which may outlive the search.
struct TwoTiers::Tier2Call {
  explicit Tier2Call(const ClientSession& session) : cancellation(session.shared_caller()) {}

  // Ends with the client's call, or when the hits are no longer needed.
  neptune::Cancellation cancellation;
  TimePoint begin;
  TimePoint deadline;
  TimePoint end;
  ServiceCoverage coverage;
  StatusOr<TierAnswer> hits = TierAnswer();
  neptune::OneShotEvent done;
};

TwoTiersAnswer TwoTiers::Ask(const ClientSession& session, const TierQuestion& question,
                             SearchAnswer* answer) {
  TwoTiersAnswer outcome;
  std::shared_ptr<Tier2Call> tier2;
  if (AsksAtOnce(question)) tier2 = BeginTier2(session, question);
  outcome.hits = AskTier1(session, question, answer);
  outcome.tier1_epoch = outcome.hits.ok() ? outcome.hits->epoch() : 0;
  Decide(question, &outcome);
  if (outcome.need != Tier2Need::kNone && tier2 == nullptr) tier2 = BeginTier2(session, question);
  if (tier2 == nullptr) return outcome;
  // Asked at once and not needed: no wait for a tier that cannot change the page.
  if (outcome.need == Tier2Need::kNone && !tier2->done.is_set()) {
    tier2->cancellation.Cancel();
    return outcome;
  }
  StatusOr<TierAnswer> more = AwaitTier2(tier2.get(), question, answer);
  if (!more.ok()) return outcome;
  outcome.has_tier2 = true;
  outcome.sure_share = 1;
  outcome.sure_count = UINT32_MAX;
  outcome.is_whole = true;
  outcome.saw_all_sites = true;
  if (outcome.hits.ok()) {
    outcome.hits = index::MergeTierAnswers(*outcome.hits, *more, question.query.hit_count_max());
  } else if (more->hits_size() > 0) {
    outcome.hits = std::move(more);
  }
  return outcome;
}

TierTerms TwoTiers::TermsOf(const TierQuestion& question) const {
  return {.deadline = question.budget.EndOf(BudgetStep::kTier, options_.tier_timeout,
                                            neptune::this_thread::Now()),
          .quality_min = options_.quality_min,
          .asked_again = metrics_.tier_asked_again};
}

bool TwoTiers::AsksAtOnce(const TierQuestion& question) const {
  if (options_.tier2_partitions == 0) return false;
  if (options_.tier2_policy == kTier2Always || question.query.order_by_date()) return true;
  return options_.tier2_policy == kTier2Safe &&
         forecast_->SkipShare(question.word_count()) < options_.tier2_skip_share_min;
}

StatusOr<TierAnswer> TwoTiers::AskTier1(const ClientSession& session, const TierQuestion& question,
                                        SearchAnswer* answer) const {
  const TimePoint begin = neptune::this_thread::Now();
  ClientSession own = session;
  ServiceCoverage coverage;
  StatusOr<TierAnswer> hits =
      SearchTier(own, {index::kTier1Service, kTier1Label, options_.tier1_partitions},
                 question.query, TermsOf(question), &coverage);
  const TimePoint end = neptune::this_thread::Now();
  answer->coverage.tiers.push_back(std::move(coverage));
  answer->steps.push_back(
      {kTier1Label, StepKind::kWait, begin - question.received, end - question.received});
  metrics_.tier1_time->Record(end - begin);
  return hits;
}

std::shared_ptr<TwoTiers::Tier2Call> TwoTiers::BeginTier2(const ClientSession& session,
                                                          const TierQuestion& question) {
  auto call = std::make_shared<Tier2Call>(session);
  call->begin = neptune::this_thread::Now();
  const TierTerms terms = TermsOf(question);
  call->deadline = terms.deadline;
  call->coverage.service = kTier2Label;
  call->coverage.partitions_asked = options_.tier2_partitions;
  const auto ask = [call, session, query = question.query, terms,
                    partition_count = options_.tier2_partitions] {
    ClientSession own = session.EndedBy(call->cancellation.call());
    call->hits = SearchTier(own, {index::kTier2Service, kTier2Label, partition_count}, query, terms,
                            &call->coverage);
    call->end = neptune::this_thread::Now();
    call->done.Set();
  };
  // This thread asks tier 2 itself if there can be no other.
  if (!neptune::ThreadScheduler::Current()->Spawn(ask, kTier2Label).ok()) ask();
  return call;
}

StatusOr<TierAnswer> TwoTiers::AwaitTier2(Tier2Call* call, const TierQuestion& question,
                                          SearchAnswer* answer) const {
  const TimePoint begin = neptune::this_thread::Now();
  const TimePoint deadline =
      std::min(call->deadline + kDeadlineSlack, std::max(call->deadline, question.budget.end()));
  const bool is_done = call->done.Wait(deadline) == neptune::ParkResult::kWoken;
  const TimePoint end = neptune::this_thread::Now();
  // Steps follow one another: the part of the wait that tier 1 has not covered.
  answer->steps.push_back(
      {kTier2Label, StepKind::kWait, begin - question.received, end - question.received});
  if (!is_done) {
    ServiceCoverage& coverage = answer->coverage.tiers.emplace_back();
    coverage.service = kTier2Label;
    coverage.partitions_asked = options_.tier2_partitions;
    const neptune::Status late = neptune::DeadlineExceeded("tier 2 did not answer");
    for (uint32_t p = 0; p < options_.tier2_partitions; ++p) {
      coverage.missing.push_back({p, MissingReason(late)});
    }
    return late;
  }
  metrics_.tier2_time->Record(call->end - call->begin);
  answer->coverage.tiers.push_back(std::move(call->coverage));
  return std::move(call->hits);
}

void TwoTiers::Decide(const TierQuestion& question, TwoTiersAnswer* outcome) const {
  const TierAnswer* const tier1 = outcome->hits.ok() ? &*outcome->hits : nullptr;
  if (options_.tier2_partitions > 0) {
    std::optional<TierBound> bound;
    if (tier1 != nullptr && tier1->has_other_tier()) {
      bound = BoundOfTier2(tier1->other_tier(), question.bounded);
    }
    outcome->sure_share = tier1 == nullptr ? 0 : SurePageShare(*tier1, bound, question.page);
    outcome->is_whole = bound.has_value() && bound->document_count == 0;
    outcome->saw_all_sites = tier1 != nullptr && tier1->other_tier().is_empty();
    const bool has_bound = tier1 != nullptr && bound.has_value();
    outcome->sure_count = outcome->is_whole ? UINT32_MAX : has_bound ? SureHits(*tier1, *bound) : 0;
    outcome->need = DecideTier2(tier1, bound.has_value(), outcome->sure_share, options_);
    // No bound tells which documents are the newest.
    const bool by_date = question.query.order_by_date();
    if (by_date && !outcome->is_whole && outcome->need == Tier2Need::kNone) {
      outcome->need = Tier2Need::kNoBounds;
    }
    if (!by_date) forecast_->Record(question.word_count(), outcome->sure_share == 1);
  }
  metrics_.ForNeed(outcome->need).Increment();
}

}  // namespace search::frontend
