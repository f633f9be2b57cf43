#include "frontend/http/gateway_metrics.h"

#include <string>
#include <utility>
#include <vector>

namespace search::frontend {
namespace {

constexpr std::array<const char*, GatewayMetrics::kOutcomeCount> kOutcomeNames = {
    "complete", "partial", "invalid", "overloaded", "failed", "gone"};

// What was refused or went wrong, besides the outcomes of searches.
neptune::Status MakeRefusals(neptune::MetricsRegistry& registry, GatewayMetrics* metrics) {
  for (const auto& [what, counter] : {std::pair{"pages", &metrics->page_access_refused},
                                      std::pair{"changes", &metrics->change_access_refused}}) {
    NEPTUNE_ASSIGN_OR_RETURN(
        *counter, registry.AddCounter("search_access_refused_total",
                                      "Requests for operators' pages and changes of documents that "
                                      "were refused because their client may not.",
                                      {{"what", what}}));
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics->reloads_limited,
      registry.AddCounter("search_reloads_limited_total",
                          "Reloads past the caches that were answered from the caches instead."));
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics->exceptions,
      registry.AddCounter(
          "search_exceptions_total",
          "Exceptions in the threads that read changes of documents, each answered with 500."));
  return neptune::OkStatus();
}

}  // namespace

neptune::StatusOr<GatewayMetrics> GatewayMetrics::Make(
    neptune::MetricsRegistry& registry, const neptune::SchedulerOptions& scheduling) {
  GatewayMetrics metrics;
  std::vector<std::string> classes;
  for (const neptune::ServiceClassOptions& one : scheduling.classes) classes.push_back(one.name);
  NEPTUNE_ASSIGN_OR_RETURN(metrics.classes,
                           neptune::ClassStatistics::Make(registry, "search", classes));
  for (size_t f = 0; f < kFormatCount; ++f) {
    const std::string format(FormatName(static_cast<PageFormat>(f)));
    for (size_t o = 0; o < kOutcomeCount; ++o) {
      NEPTUNE_ASSIGN_OR_RETURN(
          metrics.requests[f][o],
          registry.AddCounter("search_http_requests_total", "Searches over HTTP, by outcome.",
                              {{"format", format}, {"outcome", kOutcomeNames[o]}}));
    }
    NEPTUNE_ASSIGN_OR_RETURN(
        metrics.time[f],
        registry.AddHistogram("search_http_seconds",
                              "Time from the arrival of a search over HTTP to its rendered page.",
                              {{"format", format}}));
  }
  for (size_t o = 0; o < kOutcomeCount; ++o) {
    NEPTUNE_ASSIGN_OR_RETURN(metrics.suggestions[o],
                             registry.AddCounter("search_suggest_requests_total",
                                                 "Completion requests over HTTP, by outcome.",
                                                 {{"outcome", kOutcomeNames[o]}}));
  }
  for (const auto& [outcome, counter] :
       {std::pair{"hit", &metrics.page_hits}, std::pair{"stale", &metrics.page_stale},
        std::pair{"miss", &metrics.page_misses}, std::pair{"skipped", &metrics.page_skipped}}) {
    NEPTUNE_ASSIGN_OR_RETURN(
        *counter,
        registry.AddCounter("search_page_cache_lookups_total",
                            "Searches over HTTP by the outcome of their page cache lookup.",
                            {{"outcome", outcome}}));
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.rate_limited,
      registry.AddCounter("search_rate_limited_total",
                          "Requests refused because their client exceeded its rate limit."));
  NEPTUNE_RETURN_IF_ERROR(MakeRefusals(registry, &metrics));
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.suggestion_time,
      registry.AddHistogram("search_suggest_seconds",
                            "Time from the arrival of a completion request to its answer.", {}));
  return metrics;
}

void GatewayMetrics::CountSuggestion(SearchOutcome outcome, neptune::Duration took) const {
  suggestions[static_cast<size_t>(outcome)]->Increment();
  suggestion_time->Record(took);
}

void GatewayMetrics::Count(PageFormat format, SearchOutcome outcome, neptune::Duration took) const {
  const auto f = static_cast<size_t>(format);
  requests[f][static_cast<size_t>(outcome)]->Increment();
  time[f]->Record(took);
}

void GatewayMetrics::Describe(neptune::StatusReport* report) const {
  using neptune::RequestOutcome;
  neptune::StatusTable table{
      "Searches by service class",
      {"class", "arrived", "ok", "refused", "expired", "cancelled", "failed"},
      {}};
  for (neptune::ClassNumber c = 0; c < classes->class_count(); ++c) {
    const neptune::ClassTotals totals = classes->Totals(c);
    table.AddRow(classes->name_of(c), totals.arrived, totals.ended[RequestOutcome::kOk],
                 totals.ended[RequestOutcome::kRefused], totals.ended[RequestOutcome::kExpired],
                 totals.ended[RequestOutcome::kCancelled], totals.ended[RequestOutcome::kFailed]);
  }
  report->tables.push_back(std::move(table));
}

}  // namespace search::frontend
