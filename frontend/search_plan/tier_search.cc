#include "frontend/search_plan/tier_search.h"

#include <utility>

#include "frontend/search_plan/plan_policy.h"
#include "index/tier/operators.h"
#include "index/tier/tier_service.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using index::TierAnswer;
using index::TierQuery;
using neptune::AggregationReport;
using neptune::Data;
using neptune::MethodName;
using neptune::PartitionId;
using neptune::Status;
using neptune::StatusOr;

// How the answers came together.
void FillTree(const AggregationReport& report, ServiceCoverage* coverage) {
  coverage->tree_scheme = neptune::Name(report.scheme);
  coverage->took = report.duration;
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
    shown.reduction_count = server.record->reduction_count;
  }
}

// Aggregate says nothing of single partitions if it could not begin.
void FillMissing(const AggregationReport& report, const Status& status, uint32_t partition_count,
                 ServiceCoverage* coverage) {
  for (const neptune::MissingPartition& missing : report.missing) {
    coverage->missing.push_back({missing.partition.value(), MissingReason(missing.reason)});
  }
  if (status.ok() || !report.contributing_partitions.empty() || !report.missing.empty()) return;
  for (uint32_t partition = 0; partition < partition_count; ++partition) {
    coverage->missing.push_back({partition, MissingReason(status)});
  }
}

// Why the tier did not answer: if a partition refused the question itself, that.
Status FailureOf(const AggregationReport& report, const Status& status) {
  for (const neptune::MissingPartition& missing : report.missing) {
    if (missing.reason.code() == neptune::StatusCode::kInvalidArgument) return missing.reason;
  }
  return status;
}

}  // namespace

StatusOr<TierAnswer> SearchTier(neptune::ClientSession& session, const TierTarget& tier,
                                const TierQuery& query, const SearchPlanOptions& options,
                                ServiceCoverage* coverage) {
  neptune::AggregationRequest request;
  request.service = neptune::ServiceName(tier.service);
  for (uint32_t p = 0; p < tier.partition_count; ++p) request.partitions.emplace_back(p);
  request.local = MethodName(index::kTierSearchMethod);
  request.reduce = MethodName(index::kTierReduceOperator);
  request.local_parameters = Data::Of(query);
  request.reduce_parameters = request.local_parameters;
  request.aggregation_quality_min = options.quality_min;
  request.deadline = neptune::this_thread::Now() + options.tier_timeout;

  Data result;
  AggregationReport report;
  const Status status = neptune::Aggregate(session, request, &result, &report);
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

Status ReduceTierAnswers(const Data& first, const Data& second, const Data& parameters,
                         Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer* const a, first.As<TierAnswer>());
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer* const b, second.As<TierAnswer>());
  NEPTUNE_ASSIGN_OR_RETURN(const TierQuery* const query, parameters.As<TierQuery>());
  *result = Data::Of(index::MergeTierAnswers(*a, *b, query->hit_count_max()));
  return neptune::OkStatus();
}

}  // namespace search::frontend
