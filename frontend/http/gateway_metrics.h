// Metrics of the HTTP gateway, by format.
//
// Threads: the metrics are thread-safe.

#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "frontend/model/search_request.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/scheduling/scheduler_options.h"
#include "neptune/service/class_statistics.h"

namespace search::frontend {

// kGone: the client left before the end.
enum class SearchOutcome { kComplete, kPartial, kInvalid, kOverloaded, kFailed, kGone };

// Owned by the registry and valid as long as the registry.
struct GatewayMetrics {
  static constexpr size_t kFormatCount = 4;
  static constexpr size_t kOutcomeCount = 6;

  // search_http_requests_total{format,outcome}
  std::array<std::array<neptune::Counter*, kOutcomeCount>, kFormatCount> requests{};
  // search_http_seconds{format}: time from the request's arrival to the rendered page.
  std::array<neptune::HistogramMetric*, kFormatCount> time{};

  // search_suggest_requests_total{outcome}, search_suggest_seconds
  std::array<neptune::Counter*, kOutcomeCount> suggestions{};
  neptune::HistogramMetric* suggestion_time = nullptr;

  // search_rate_limited_total: requests refused by the rate limit.
  neptune::Counter* rate_limited = nullptr;

  // search_access_refused_total{what="pages|changes"}: requests refused by access_rules.h.
  neptune::Counter* page_access_refused = nullptr;
  neptune::Counter* change_access_refused = nullptr;
  // search_reloads_limited_total: reloads that were answered from the caches.
  neptune::Counter* reloads_limited = nullptr;
  // search_exceptions_total: exceptions in the threads that read changes of documents, each
  // answered with 500. Those of handlers are counted by the HTTP server.
  neptune::Counter* exceptions = nullptr;
  // Searches that missed the query cache, one of the plan's metrics; set by the module.
  const neptune::Counter* cache_misses = nullptr;

  // search_page_cache_lookups_total{outcome="hit|stale|miss|skipped"}
  neptune::Counter* page_hits = nullptr;
  neptune::Counter* page_stale = nullptr;
  neptune::Counter* page_misses = nullptr;
  neptune::Counter* page_skipped = nullptr;

  // neptune_class_*{service="search"}: searches by the client's class.
  std::shared_ptr<neptune::ClassStatistics> classes;

  // Errors: those of MetricsRegistry.
  static neptune::StatusOr<GatewayMetrics> Make(neptune::MetricsRegistry& registry,
                                                const neptune::SchedulerOptions& scheduling);

  void Count(PageFormat format, SearchOutcome outcome, neptune::Duration took) const;
  void CountSuggestion(SearchOutcome outcome, neptune::Duration took) const;
  // Adds a table with one row per class.
  void Describe(neptune::StatusReport* report) const;
};

}  // namespace search::frontend
