#include "frontend/search_plan/tier_search.h"

#include <algorithm>
#include <set>
#include <utility>

#include "frontend/policy/hit_share.h"
#include "frontend/policy/plan_policy.h"
#include "index/tier/operators.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using index::TierAnswer;
using index::TierQuery;
using neptune::AggregationReport;
using neptune::Data;
using neptune::PartitionId;
using neptune::Status;
using neptune::StatusOr;

bool IsRefusal(const Status& status) {
  return status.code() == neptune::StatusCode::kResourceExhausted;
}

// Copies the reduction tree from the report.
void FillTree(const AggregationReport& report, ServiceCoverage* coverage) {
  coverage->tree_scheme = neptune::Name(report.scheme);
  coverage->took = report.duration;
  coverage->forming = report.forming;
  coverage->reducing = report.reducing;
  coverage->server_wait = report.queue_time_max;
  coverage->server_run = report.run_time_max;
  for (const neptune::AggregationServer& server : report.servers) {
    TreeServer& shown = coverage->tree.emplace_back();
    shown.node = server.node.value();
    shown.parent = server.parent;
    for (const PartitionId& partition : server.partitions) {
      shown.partitions.push_back(partition.value());
    }
    shown.believed_load = server.estimated_load;
    if (!server.record) continue;
    shown.answered = true;
    shown.queued = server.record->queue_time;
    shown.searched = server.record->local_end;
    shown.replied = server.record->answered;
    shown.reducing = server.record->reducing;
    shown.reduction_count = server.record->reduction_count;
  }
}

// If the aggregation could not begin, the report has no partitions, so all of them are missing.
void FillMissing(const AggregationReport& report, const Status& status, uint32_t partition_count,
                 ServiceCoverage* coverage) {
  for (const PartitionId& partition : report.ended_early) {
    coverage->ended_early.push_back(partition.value());
  }
  const std::set<PartitionId> early(report.ended_early.begin(), report.ended_early.end());
  for (const neptune::MissingPartition& missing : report.missing) {
    coverage->missing.push_back({missing.partition.value(), early.contains(missing.partition)
                                                                ? std::string(kEndedEarlyReason)
                                                                : MissingReason(missing.reason)});
    coverage->refused |= IsRefusal(missing.reason);
  }
  coverage->refused |= IsRefusal(status);
  if (status.ok() || !report.contributing_partitions.empty() || !report.missing.empty()) return;
  for (uint32_t partition = 0; partition < partition_count; ++partition) {
    coverage->missing.push_back({partition, MissingReason(status)});
  }
}

// The error of a tier that did not answer; a partition's rejection of the query takes precedence.
Status FailureOf(const AggregationReport& report, const Status& status) {
  for (const neptune::MissingPartition& missing : report.missing) {
    if (missing.reason.code() == neptune::StatusCode::kInvalidArgument) return missing.reason;
  }
  return status;
}

StatusOr<TierAnswer> Ask(neptune::ClientSession& session, const TierTarget& tier,
                         const TierQuery& query, const TierTerms& terms,
                         ServiceCoverage* coverage) {
  *coverage = ServiceCoverage();
  Data result;
  AggregationReport report;
  const Status status =
      neptune::this_thread::Now() >= terms.deadline
          ? neptune::DeadlineExceeded("no time is left for ", tier.label)
          : neptune::Aggregate(session, TierAggregation(tier, query, terms), &result, &report);
  coverage->service = tier.label;
  coverage->partitions_asked = tier.partition_count;
  FillMissing(report, status, tier.partition_count, coverage);
  FillTree(report, coverage);
  if (!status.ok()) return FailureOf(report, status);
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer* const answer, result.As<TierAnswer>());
  coverage->implementation = answer->implementation();
  coverage->evaluated_completely = answer->evaluated_completely();
  return *answer;
}

}  // namespace

StatusOr<TierAnswer> SearchTier(neptune::ClientSession& session, const TierTarget& tier,
                                const TierQuery& query, const TierTerms& terms,
                                ServiceCoverage* coverage) {
  TierQuery shared = query;
  // The newest documents need not be spread evenly over the partitions.
  if (!query.order_by_date()) {
    shared.set_share(HitShare(std::max(query.hit_count_max(), query.second_phase_count()),
                              tier.partition_count));
  }
  StatusOr<TierAnswer> answer = Ask(session, tier, shared, terms, coverage);
  const bool is_enough =
      shared.share() == 0 || !answer.ok() || !index::LacksHits(*answer, query.hit_count_max());
  if (is_enough) return answer;
  if (terms.asked_again != nullptr) terms.asked_again->Increment();
  ServiceCoverage again;
  StatusOr<TierAnswer> whole = Ask(session, tier, query, terms, &again);
  if (whole.ok()) {
    *coverage = std::move(again);
    return whole;
  }
  // What is there is shown as what it is: not all that was looked for.
  answer->set_evaluated_completely(false);
  coverage->evaluated_completely = false;
  return answer;
}

}  // namespace search::frontend
