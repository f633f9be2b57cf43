// Statistics of a trace: rates, gaps, classes, repeats, popularity.
//
// A request is *fresh* if its query was not asked before in the trace, else a *repeat*. Fresh
// requests are those that a query cache of unlimited size and lifetime would miss: the "non-cached"
// ones of the source.
//
// Source: [Shen02] 4.5.1 and table 4.2 (accesses, non-cached accesses, arrival intervals).
// Threads: thread-compatible.
// Units: milliseconds and seconds as the names say.
// Limits: memory grows with distinct queries and with seconds of the trace.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/trace/trace_record.h"

namespace search::tools {

// Mean and deviation of the times between requests; all 0 for fewer than two requests.
struct GapStatistics {
  uint64_t count = 0;  // requests, one more than gaps
  double mean_ms = 0;
  double deviation_ms = 0;
};

struct TraceStatistics {
  double duration_s = 0;  // from 0 to the last request
  double rate = 0;        // requests per second over that duration
  GapStatistics all;
  GapStatistics fresh;
  std::map<std::string, GapStatistics> classes;
  double repeat_share = 0;
  uint64_t distinct_count = 0;
  // Share of the ten most frequent queries in all requests.
  double top_ten_share = 0;
  // s of "frequency is proportional to rank to the power of -s", fitted over ranks whose queries
  // were asked at least kZipfCountMin times; 0 if there are too few of them.
  double zipf_exponent = 0;
  // Ratio of the busiest whole second, minute and hour to the mean; 0 if the trace is shorter than
  // two of them.
  double peak_second = 0;
  double peak_minute = 0;
  double peak_hour = 0;
  // Variance over mean of the requests in a second: 1 for a Poisson process, more for bursts.
  double dispersion = 0;
  double query_size_mean = 0;
  std::vector<std::pair<std::string, uint64_t>> top_queries;  // the ten most frequent

  static constexpr uint64_t kZipfCountMin = 5;
};

class TraceObserver {
 public:
  // Adds a record. REQUIRES: records are added in order of time.
  void Add(const TraceRecord& record);
  TraceStatistics Finish() const;

 private:
  // Welford's running mean and variance of gaps.
  struct Gaps {
    void Add(uint64_t time_us);
    GapStatistics Finish() const;

    uint64_t count = 0;
    uint64_t last_us = 0;
    double mean_us = 0;
    double squares = 0;
  };
  using QueryCount = std::pair<std::string, uint64_t>;

  std::vector<QueryCount> ByFrequency() const;
  double PeakOver(size_t seconds) const;
  double Dispersion() const;

  Gaps all_;
  Gaps fresh_;
  std::map<std::string, Gaps> classes_;
  std::unordered_map<std::string, uint64_t> queries_;
  std::vector<uint32_t> per_second_;
  uint64_t query_bytes_ = 0;
};

// The slope of log(frequency) over log(rank), with the sign changed; `counts` in falling order.
double FitZipfExponent(const std::vector<uint64_t>& counts);

// Returns a human-readable report.
std::string DescribeTrace(const TraceStatistics& statistics);
// The same as one JSON object.
std::string TraceStatisticsJson(const TraceStatistics& statistics);

}  // namespace search::tools
