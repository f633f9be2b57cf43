// Summarises a run's measurements, over its steady window and second by second.
//
// A lost request (rejected, error, timeout, connection) counts in the latency distribution with the
// timeout, or with its actual time if that is longer, so that percentiles cover all requests and
// not only the answered ones.
//
// Source: [Shen02] 4.5.2 (loss percent); [Chu03] 5 (quality-aware throughput: an answer counts as
// the share of partitions that contributed, if it came within the deadline).
// Threads: pure functions.
// Units: nanoseconds in histograms; shares are 0 to 1; rates a second.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "neptune/base/histogram.h"
#include "tools/replay/measurement.h"
#include "tools/replay/run_setup.h"

namespace search::tools {

// Three significant digits, as HdrHistogram has by default.
inline constexpr neptune::HistogramOptions kLatencyHistogram = {.precision_bits = 10};

// Figures of one class, or of all.
struct ClassSummary {
  std::array<uint64_t, kOutcomeCount> outcomes{};
  uint64_t partial_count = 0;  // answered, with quality below 1
  uint64_t terminated_count = 0;
  uint64_t cache_hit_count = 0;
  uint64_t cache_known_count = 0;
  double quality_sum = 0;          // of answers
  double quality_in_time_sum = 0;  // of answers within the deadline
  double yield = 0;
  double yield_offered = 0;
  neptune::Histogram latency{kLatencyHistogram};  // since the intended time
  neptune::Histogram service{kLatencyHistogram};  // answers only, since sending

  uint64_t request_count() const;
  uint64_t answered_count() const { return outcomes[0]; }
  uint64_t lost_count() const { return request_count() - answered_count(); }
  double LossShare() const;        // share of lost requests
  double LossPercent() const;      // lost yield in percent of the offered yield
  double Coverage() const;         // mean quality of answers
  double CacheHitShare() const;    // of answers that report it
  double TerminatedShare() const;  // of answers
};

struct SecondSummary {
  uint64_t request_count = 0;  // intended in the window
  uint64_t answered_count = 0;
  uint64_t lost_count = 0;
  double quality_sum = 0;
  uint64_t cache_hit_count = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;
  double lateness_max_ms = 0;
};

struct RunSummary {
  double window_begin_s = 0;
  double window_s = 0;
  ClassSummary all;
  std::map<std::string, ClassSummary> classes;
  neptune::Histogram lateness{kLatencyHistogram};
  std::vector<SecondSummary> seconds;  // the whole run, including warm-up
  // Reason why the run is invalid; empty if it is valid.
  std::string invalid;

  bool valid() const { return invalid.empty(); }
  double Goodput() const { return Rate(static_cast<double>(all.answered_count())); }
  double QualityThroughput() const { return Rate(all.quality_in_time_sum); }
  double Rate(double count) const { return window_s > 0 ? count / window_s : 0; }
};

// `complete`: true if the plan was played to its end.
RunSummary Summarize(const RunSetup& setup, const std::vector<Measurement>& measurements,
                     bool complete);

std::string SummaryJson(const RunSetup& setup, const RunSummary& summary);
// Returns a table for the terminal.
std::string SummaryText(const RunSetup& setup, const RunSummary& summary);

}  // namespace search::tools
