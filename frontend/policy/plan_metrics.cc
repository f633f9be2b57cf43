#include "frontend/policy/plan_metrics.h"

#include <string>

namespace search::frontend {
namespace {

using neptune::Counter;
using neptune::HistogramMetric;
using neptune::MetricsRegistry;
using neptune::Status;

// Registers series and remembers the first error.
class SeriesAdder {
 public:
  explicit SeriesAdder(MetricsRegistry& registry) : registry_(registry) {}

  Counter* Count(const char* name, const char* help, const char* label, const char* value) {
    auto counter = registry_.AddCounter(name, help, {{label, value}});
    return Take(counter);
  }
  Counter* Count(const char* name, const char* help) {
    return Take(registry_.AddCounter(name, help));
  }
  HistogramMetric* Time(const char* step) {
    auto histogram = registry_.AddHistogram(
        "search_step_seconds", "Duration of each step of the search plan.", {{"step", step}});
    return Take(histogram);
  }
  const Status& status() const { return status_; }

 private:
  template <typename Series>
  Series* Take(const neptune::StatusOr<Series*>& series) {
    if (series.ok()) return *series;
    if (status_.ok()) status_ = series.status();
    return nullptr;
  }

  MetricsRegistry& registry_;
  Status status_;
};

}  // namespace

neptune::StatusOr<PlanMetrics> PlanMetrics::Make(MetricsRegistry& registry) {
  SeriesAdder add(registry);
  PlanMetrics metrics;
  const auto lookup = [&](const char* outcome) {
    return add.Count("search_cache_lookups_total",
                     "Searches by the outcome of their query cache lookup.", "outcome", outcome);
  };
  metrics.cache_hit = lookup("hit");
  metrics.cache_miss = lookup("miss");
  metrics.cache_bypassed = lookup("bypassed");
  metrics.cache_failed = lookup("failed");
  const auto insert = [&](const char* outcome) {
    return add.Count("search_cache_inserts_total",
                     "Answers offered to the query cache, by outcome.", "outcome", outcome);
  };
  metrics.insert_stored = insert("stored");
  metrics.insert_refused = insert("refused");
  metrics.insert_failed = insert("failed");
  metrics.insert_dropped = insert("dropped");
  const auto overlap = [&](const char* outcome) {
    return add.Count("search_overlapped_searches_total",
                     "Searches that began before the query cache had answered; wasted: it had the "
                     "answer.",
                     "outcome", outcome);
  };
  metrics.overlap_used = overlap("used");
  metrics.overlap_wasted = overlap("wasted");
  const auto need = [&](const char* reason) {
    return add.Count("search_tier2_decisions_total",
                     "Searches by the reason for needing tier 2; none: it was not needed.", "need",
                     reason);
  };
  metrics.tier2_none = need("none");
  metrics.tier2_tier1_failed = need("tier1_failed");
  metrics.tier2_may_enter_page = need("may_enter_page");
  metrics.tier2_no_bounds = need("no_bounds");
  metrics.tier2_always = need("always");
  metrics.tier_asked_again =
      add.Count("search_tier_asked_again_total",
                "Searches of a tier that were repeated because a partition had more of the best "
                "hits than its share.");
  const auto answer = [&](const char* outcome) {
    return add.Count("search_answers_total", "Searches by their outcome.", "outcome", outcome);
  };
  metrics.answer_complete = answer("complete");
  metrics.answer_partial = answer("partial");
  metrics.answer_refused = answer("refused");
  metrics.answer_failed = answer("failed");
  metrics.answer_gone = answer("gone");
  const auto spelling = [&](const char* outcome) {
    return add.Count(
        "search_spellings_total",
        "Queries with a doubtful word, by the outcome of looking for another spelling.", "outcome",
        outcome);
  };
  metrics.spelling_replaced = spelling("replaced");
  metrics.spelling_proposed = spelling("proposed");
  metrics.spelling_none = spelling("none");
  metrics.spelling_late = spelling("late");
  const auto equal = [&](const char* outcome) {
    return add.Count("search_equal_searches_total",
                     "Searches that waited for the answer to an equal question: with that answer, "
                     "or taking over because the first search failed.",
                     "outcome", outcome);
  };
  metrics.joined = equal("joined");
  metrics.taken_over = equal("taken_over");
  metrics.stale_answers =
      add.Count("search_stale_answers_total",
                "Searches answered from the cache of the former version of the index.");
  const auto refresh = [&](const char* outcome) {
    return add.Count("search_refreshes_total",
                     "Computations of answers whose former ones were given, by outcome.", "outcome",
                     outcome);
  };
  metrics.refresh_done = refresh("done");
  metrics.refresh_failed = refresh("failed");
  metrics.refresh_dropped = refresh("dropped");
  metrics.relaxed = add.Count("search_relaxed_total",
                              "Searches that found nothing with all that they demand and showed "
                              "pages with some of the words.");
  metrics.spelling_time = add.Time("spelling");
  metrics.cache_time = add.Time("cache");
  metrics.tier1_time = add.Time("tier1");
  metrics.tier2_time = add.Time("tier2");
  metrics.document_time = add.Time("documents");
  NEPTUNE_RETURN_IF_ERROR(add.status());
  return metrics;
}

Counter& PlanMetrics::ForLookup(CacheUse::Outcome outcome) const {
  switch (outcome) {
    case CacheUse::Outcome::kHit:
      return *cache_hit;
    case CacheUse::Outcome::kMiss:
      return *cache_miss;
    case CacheUse::Outcome::kBypassed:
      return *cache_bypassed;
    case CacheUse::Outcome::kFailed:
      break;
  }
  return *cache_failed;
}

Counter& PlanMetrics::ForNeed(Tier2Need need) const {
  switch (need) {
    case Tier2Need::kNone:
      return *tier2_none;
    case Tier2Need::kTier1Failed:
      return *tier2_tier1_failed;
    case Tier2Need::kMayEnterPage:
      return *tier2_may_enter_page;
    case Tier2Need::kNoBounds:
      return *tier2_no_bounds;
    case Tier2Need::kAlways:
      break;
  }
  return *tier2_always;
}

}  // namespace search::frontend
