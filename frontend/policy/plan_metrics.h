// Metrics of the search plan.
//
// Threads: the metrics are thread-safe.

#pragma once

#include "frontend/model/answer.h"
#include "frontend/policy/plan_policy.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"

namespace search::frontend {

// Owned by the registry and valid as long as the registry.
struct PlanMetrics {
  // search_cache_lookups_total{outcome="hit|miss|bypassed|failed"}
  neptune::Counter* cache_hit = nullptr;
  neptune::Counter* cache_miss = nullptr;
  neptune::Counter* cache_bypassed = nullptr;
  neptune::Counter* cache_failed = nullptr;
  // search_cache_inserts_total{outcome="stored|refused|failed|dropped"}
  neptune::Counter* insert_stored = nullptr;
  neptune::Counter* insert_refused = nullptr;
  neptune::Counter* insert_failed = nullptr;
  neptune::Counter* insert_dropped = nullptr;
  // search_overlapped_searches_total{outcome="used|wasted"}
  neptune::Counter* overlap_used = nullptr;
  neptune::Counter* overlap_wasted = nullptr;
  // search_tier2_decisions_total{need="none|tier1_failed|may_enter_page|no_bounds|always"}
  neptune::Counter* tier2_none = nullptr;
  neptune::Counter* tier2_tier1_failed = nullptr;
  neptune::Counter* tier2_may_enter_page = nullptr;
  neptune::Counter* tier2_no_bounds = nullptr;
  neptune::Counter* tier2_always = nullptr;
  // search_tier_asked_again_total
  neptune::Counter* tier_asked_again = nullptr;
  // search_answers_total{outcome="complete|partial|refused|failed|gone"}
  neptune::Counter* answer_complete = nullptr;
  neptune::Counter* answer_partial = nullptr;
  neptune::Counter* answer_refused = nullptr;
  neptune::Counter* answer_failed = nullptr;
  neptune::Counter* answer_gone = nullptr;
  // search_spellings_total{outcome="replaced|proposed|none|late"}
  neptune::Counter* spelling_replaced = nullptr;
  neptune::Counter* spelling_proposed = nullptr;
  neptune::Counter* spelling_none = nullptr;
  neptune::Counter* spelling_late = nullptr;
  // search_equal_searches_total{outcome="joined|taken_over"}
  neptune::Counter* joined = nullptr;
  neptune::Counter* taken_over = nullptr;
  // search_stale_answers_total, search_refreshes_total{outcome="done|failed|dropped"}
  neptune::Counter* stale_answers = nullptr;
  neptune::Counter* refresh_done = nullptr;
  neptune::Counter* refresh_failed = nullptr;
  neptune::Counter* refresh_dropped = nullptr;
  // search_relaxed_total
  neptune::Counter* relaxed = nullptr;
  // search_step_seconds{step="cache|tier1|tier2|documents|spelling"}
  neptune::HistogramMetric* cache_time = nullptr;
  neptune::HistogramMetric* tier1_time = nullptr;
  neptune::HistogramMetric* tier2_time = nullptr;
  neptune::HistogramMetric* document_time = nullptr;
  neptune::HistogramMetric* spelling_time = nullptr;

  // Errors: those of MetricsRegistry, for instance a second plan on one node.
  static neptune::StatusOr<PlanMetrics> Make(neptune::MetricsRegistry& registry);

  neptune::Counter& ForLookup(CacheUse::Outcome outcome) const;
  neptune::Counter& ForNeed(Tier2Need need) const;
};

}  // namespace search::frontend
