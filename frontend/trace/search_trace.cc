#include "frontend/trace/search_trace.h"

#include <algorithm>

namespace search::frontend {

SearchTrace MakeTrace(const SearchAnswer& answer, const neptune::Status& status,
                      std::string_view service_class, bool sampled, bool keeps_query) {
  SearchTrace trace;
  trace.id = answer.trace_id;
  trace.sampled = sampled;
  trace.ended_at = answer.answered_at;
  if (keeps_query) trace.query = answer.query;
  trace.service_class = service_class;
  trace.status = status;
  trace.took = answer.took;
  trace.steps = answer.steps;
  trace.coverage = answer.coverage;
  trace.result_count = answer.results.size();
  return trace;
}

std::string_view Name(TraceIssue issue) {
  constexpr std::string_view kNames[kTraceIssueCount] = {"partial", "cut", "refused", "failed"};
  return kNames[static_cast<size_t>(issue)];
}

std::vector<TraceIssue> IssuesOf(const SearchAnswer& answer, const neptune::Status& status) {
  if (status.code() == neptune::StatusCode::kResourceExhausted) return {TraceIssue::kRefused};
  if (status.code() == neptune::StatusCode::kInvalidArgument) return {};
  if (status.code() == neptune::StatusCode::kCancelled) return {};  // the client is gone
  if (!status.ok()) return {TraceIssue::kFailed};
  std::vector<TraceIssue> issues;
  const Coverage& coverage = answer.coverage;
  const auto lacks = [](const ServiceCoverage& service) { return !service.missing.empty(); };
  if (lacks(coverage.documents) ||
      std::any_of(coverage.tiers.begin(), coverage.tiers.end(), lacks)) {
    issues.push_back(TraceIssue::kPartial);
  }
  if (coverage.was_cut()) issues.push_back(TraceIssue::kCut);
  return issues;
}

}  // namespace search::frontend
