#include "tools/trace/trace_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/terminal/progress.h"

namespace search::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kTopCount = 10;
constexpr size_t kZipfRankCountMin = 10;

template <typename... Args>
void Append(std::string* out, const char* format, Args... args) {
  char line[256];
  const int size = std::snprintf(line, sizeof(line), format, args...);
  out->append(line, std::min<size_t>(std::max(size, 0), sizeof(line) - 1));
}

Json GapJson(const GapStatistics& gaps) {
  return {{"count", gaps.count}, {"gap_mean_ms", gaps.mean_ms}, {"gap_sd_ms", gaps.deviation_ms}};
}

void AppendGaps(std::string* out, const std::string& name, const GapStatistics& gaps,
                uint64_t total) {
  Append(out, "%-12s %12s %7.1f %% %12.1f %12.1f\n", name.c_str(),
         WithThousands(gaps.count).c_str(), total == 0 ? 0 : 100.0 * gaps.count / total,
         gaps.mean_ms, gaps.deviation_ms);
}

}  // namespace

void TraceObserver::Gaps::Add(uint64_t time_us) {
  if (count++ > 0) {
    const double gap = static_cast<double>(time_us - last_us);
    const double before = gap - mean_us;
    mean_us += before / static_cast<double>(count - 1);
    squares += before * (gap - mean_us);
  }
  last_us = time_us;
}

GapStatistics TraceObserver::Gaps::Finish() const {
  GapStatistics result{.count = count};
  if (count < 2) return result;
  result.mean_ms = mean_us / 1000;
  result.deviation_ms = std::sqrt(squares / static_cast<double>(count - 1)) / 1000;
  return result;
}

void TraceObserver::Add(const TraceRecord& record) {
  all_.Add(record.time_us);
  classes_[record.service_class].Add(record.time_us);
  if (++queries_[record.query] == 1) fresh_.Add(record.time_us);
  const size_t second = record.time_us / 1'000'000;
  if (second >= per_second_.size()) per_second_.resize(second + 1);
  ++per_second_[second];
  query_bytes_ += record.query.size();
}

std::vector<TraceObserver::QueryCount> TraceObserver::ByFrequency() const {
  std::vector<QueryCount> sorted(queries_.begin(), queries_.end());
  std::sort(sorted.begin(), sorted.end(), [](const QueryCount& a, const QueryCount& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return sorted;
}

double TraceObserver::PeakOver(size_t seconds) const {
  const size_t windows = per_second_.size() / seconds;
  if (windows < 2) return 0;
  uint64_t peak = 0;
  uint64_t sum = 0;
  for (size_t i = 0; i < windows; ++i) {
    const auto begin = per_second_.begin() + static_cast<ptrdiff_t>(i * seconds);
    const uint64_t count =
        std::accumulate(begin, begin + static_cast<ptrdiff_t>(seconds), uint64_t{0});
    peak = std::max(peak, count);
    sum += count;
  }
  return sum == 0 ? 0 : static_cast<double>(peak) * windows / static_cast<double>(sum);
}

double TraceObserver::Dispersion() const {
  if (per_second_.size() < 2) return 0;
  const double mean = static_cast<double>(all_.count) / per_second_.size();
  double squares = 0;
  for (const uint32_t count : per_second_) squares += (count - mean) * (count - mean);
  return squares / static_cast<double>(per_second_.size() - 1) / mean;
}

TraceStatistics TraceObserver::Finish() const {
  TraceStatistics result;
  if (all_.count == 0) return result;
  const std::vector<QueryCount> sorted = ByFrequency();
  std::vector<uint64_t> counts;
  for (const QueryCount& query : sorted) counts.push_back(query.second);
  result.duration_s = static_cast<double>(all_.last_us) / 1e6;
  result.rate = result.duration_s > 0 ? all_.count / result.duration_s : 0;
  result.all = all_.Finish();
  result.fresh = fresh_.Finish();
  for (const auto& [name, gaps] : classes_) result.classes[name] = gaps.Finish();
  result.distinct_count = queries_.size();
  result.repeat_share = 1 - static_cast<double>(queries_.size()) / all_.count;
  result.top_queries.assign(
      sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(std::min(kTopCount, sorted.size())));
  for (const QueryCount& query : result.top_queries) result.top_ten_share += query.second;
  result.top_ten_share /= static_cast<double>(all_.count);
  result.zipf_exponent = FitZipfExponent(counts);
  result.peak_second = PeakOver(1);
  result.peak_minute = PeakOver(60);
  result.peak_hour = PeakOver(3600);
  result.dispersion = Dispersion();
  result.query_size_mean = static_cast<double>(query_bytes_) / all_.count;
  return result;
}

double FitZipfExponent(const std::vector<uint64_t>& counts) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t i = 0; i < counts.size() && counts[i] >= TraceStatistics::kZipfCountMin; ++i) {
    const double x = std::log(static_cast<double>(i + 1));
    const double y = std::log(static_cast<double>(counts[i]));
    n += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  if (n < kZipfRankCountMin) return 0;
  return -(n * sxy - sx * sy) / (n * sxx - sx * sx);
}

std::string DescribeTrace(const TraceStatistics& s) {
  std::string out;
  Append(&out, "%s requests in %.1f s, %.2f a second\n\n", WithThousands(s.all.count).c_str(),
         s.duration_s, s.rate);
  Append(&out, "%-12s %12s %9s %12s %12s\n", "", "requests", "share", "gap mean ms", "gap sd ms");
  AppendGaps(&out, "all", s.all, s.all.count);
  AppendGaps(&out, "fresh", s.fresh, s.all.count);
  for (const auto& [name, gaps] : s.classes) AppendGaps(&out, name, gaps, s.all.count);
  Append(&out, "\nrepeats %.1f %%; %s distinct queries, mean size %.1f bytes\n",
         100 * s.repeat_share, WithThousands(s.distinct_count).c_str(), s.query_size_mean);
  Append(&out, "the ten most frequent queries are %.1f %% of all; Zipf exponent %.2f\n",
         100 * s.top_ten_share, s.zipf_exponent);
  Append(&out, "busiest second %.2f, minute %.2f, hour %.2f times the mean; dispersion %.2f\n\n",
         s.peak_second, s.peak_minute, s.peak_hour, s.dispersion);
  for (const auto& [query, count] : s.top_queries) {
    Append(&out, "%12s  %.200s\n", WithThousands(count).c_str(), query.c_str());
  }
  return out;
}

std::string TraceStatisticsJson(const TraceStatistics& s) {
  Json classes = Json::object();
  for (const auto& [name, gaps] : s.classes) classes[name] = GapJson(gaps);
  const Json document = {{"duration_s", s.duration_s},
                         {"rate", s.rate},
                         {"all", GapJson(s.all)},
                         {"fresh", GapJson(s.fresh)},
                         {"classes", std::move(classes)},
                         {"repeat_share", s.repeat_share},
                         {"distinct_count", s.distinct_count},
                         {"top_ten_share", s.top_ten_share},
                         {"zipf_exponent", s.zipf_exponent},
                         {"peak_second", s.peak_second},
                         {"peak_minute", s.peak_minute},
                         {"peak_hour", s.peak_hour},
                         {"dispersion", s.dispersion},
                         {"query_size_mean", s.query_size_mean}};
  return document.dump(1) + "\n";
}

}  // namespace search::tools
