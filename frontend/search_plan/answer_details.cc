#include "frontend/search_plan/answer_details.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "frontend/policy/explained_scores.h"
#include "frontend/policy/site_facets.h"
#include "frontend/suggest/both_tiers.h"
#include "index/tier/explain.pb.h"
#include "index/tier/explain_operators.h"
#include "index/tier/facet.pb.h"
#include "index/tier/facet_operators.h"
#include "index/tier/tier_service.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using index::ExplainAnswer;
using index::FacetAnswer;
using neptune::Data;
using neptune::TimePoint;

// Time after the deadline by which a result has been delivered.
constexpr neptune::Duration kDeadlineSlack = std::chrono::milliseconds(20);

}  // namespace

struct SiteCounting::Call {
  TimePoint deadline;
  TierReplies replies;
  neptune::OneShotEvent done;
};

SiteCounting SiteCounting::Start(const neptune::ClientSession& session,
                                 const DetailQuestion& question, const SearchPlanOptions& options,
                                 TimePoint deadline) {
  auto call = std::make_shared<Call>();
  call->deadline = deadline;
  index::FacetQuery query;
  query.set_query(question.canonical);
  query.set_index_version(question.index_version);
  query.set_posting_count_max(options.facet_posting_count_max);
  const TierCall tier_call = {index::kTierFacetMethod, index::kFacetReduceOperator,
                              Data::Of(std::move(query)), call->deadline};
  const auto ask = [call, session, tier_call, options] {
    call->replies = AskBothTiers(session, tier_call, options);
    call->done.Set();
  };
  if (!neptune::ThreadScheduler::Current()->Spawn(ask, "sites").ok()) ask();
  return SiteCounting(std::move(call));
}

SiteFacets SiteCounting::Await() {
  const bool is_done =
      call_->done.Wait(call_->deadline + kDeadlineSlack) == neptune::ParkResult::kWoken;
  if (!is_done) return MakeSiteFacets(FacetAnswer(), /*is_complete=*/false);
  const auto counts = JoinReplies<FacetAnswer>(call_->replies, index::MergeFacetAnswers);
  return MakeSiteFacets(counts.value_or(FacetAnswer()),
                        call_->replies.is_complete && counts.has_value());
}

void ExplainResults(const neptune::ClientSession& session, const DetailQuestion& question,
                    const SearchPlanOptions& options, TimePoint deadline,
                    const std::vector<index::ScoringWord>& words, SearchAnswer* answer) {
  answer->with_explanations = true;
  if (answer->results.empty()) return;
  index::ExplainQuery query;
  query.set_query(question.canonical);
  query.set_index_version(question.index_version);
  for (const SearchResult& result : answer->results) {
    uint64_t doc_id = 0;
    if (absl::SimpleAtoi(result.doc_id, &doc_id)) query.add_doc_ids(doc_id);
  }
  const TierReplies replies =
      AskBothTiers(session,
                   {index::kTierExplainMethod, index::kExplainReduceOperator,
                    Data::Of(std::move(query)), deadline},
                   options);
  const auto explained = JoinReplies<ExplainAnswer>(replies, index::MergeExplainAnswers);
  AdoptExplanations(explained.value_or(ExplainAnswer()),
                    replies.is_complete && explained.has_value(), words, answer);
}

}  // namespace search::frontend
