#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "neptune/base/strings.h"
#include "tools/replay/hdr_text.h"
#include "tools/replay/report.h"
#include "tools/streams/file_sink.h"

namespace search::tools {
namespace {

using neptune::Histogram;
using neptune::Status;
using neptune::StatusOr;

constexpr size_t kBlockSize = 256 * 1024;
constexpr int64_t kNsPerS = 1'000'000'000;

void AppendRow(const RunSetup& setup, const Measurement& m, std::string* out) {
  static constexpr const char* kCacheNames[] = {"", "hit", "miss"};
  char line[192];
  std::snprintf(line, sizeof(line), "%u,%s,%.3f,%.3f,%.3f,%s,%.4g,%s,%d\n", m.request,
                setup.classes[m.service_class].c_str(), static_cast<double>(m.intended_ns) / 1e3,
                static_cast<double>(m.sent_ns) / 1e3, static_cast<double>(m.done_ns) / 1e3,
                std::string(OutcomeName(m.outcome)).c_str(), static_cast<double>(m.quality),
                kCacheNames[static_cast<size_t>(m.cache)], m.terminated);
  *out += line;
}

Status WriteRequests(const std::string& path, const RecordedRun& run) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto sink, CreateFileSink(path, PackingOfName(path), 1));
  std::string block =
      "request,class,intended_us,sent_us,done_us,outcome,quality,cache,terminated\n";
  for (const Measurement& m : run.measurements) {
    AppendRow(run.setup, m, &block);
    if (block.size() < kBlockSize) continue;
    NEPTUNE_RETURN_IF_ERROR(sink->Write(block));
    block.clear();
  }
  NEPTUNE_RETURN_IF_ERROR(sink->Write(block));
  return sink->Commit();
}

// Answers of each class second by second, for tools that draw percentiles over time.
std::string IntervalLog(const RecordedRun& run) {
  std::map<std::pair<int64_t, uint8_t>, std::vector<int64_t>> intervals;
  for (const Measurement& m : run.measurements) {
    if (m.outcome != Outcome::kAnswered) continue;
    intervals[{m.intended_ns / kNsPerS, m.service_class}].push_back(m.latency_ns());
  }
  HdrIntervalLog log(0);
  Histogram histogram(kLatencyHistogram);
  for (const auto& [interval, latencies] : intervals) {
    histogram.Clear();
    for (const int64_t latency : latencies) {
      histogram.Record(static_cast<uint64_t>(std::max<int64_t>(0, latency)));
    }
    log.Add(run.setup.classes[interval.second], static_cast<double>(interval.first), 1, histogram);
  }
  return log.text();
}

}  // namespace

std::string SeriesCsv(const RunSummary& summary) {
  std::string out =
      "second,requests,answered,lost,coverage,cache_hits,p50_ms,p99_ms,max_ms,lateness_max_ms\n";
  char line[256];
  for (size_t i = 0; i < summary.seconds.size(); ++i) {
    const SecondSummary& s = summary.seconds[i];
    const double answered = static_cast<double>(std::max<uint64_t>(1, s.answered_count));
    std::snprintf(line, sizeof(line), "%zu,%llu,%llu,%llu,%.5g,%llu,%.4g,%.4g,%.4g,%.4g\n", i,
                  static_cast<unsigned long long>(s.request_count),
                  static_cast<unsigned long long>(s.answered_count),
                  static_cast<unsigned long long>(s.lost_count), s.quality_sum / answered,
                  static_cast<unsigned long long>(s.cache_hit_count), s.p50_ms, s.p99_ms, s.max_ms,
                  s.lateness_max_ms);
    out += line;
  }
  return out;
}

Status WriteReport(const std::string& folder, const RecordedRun& run, const RunSummary& summary) {
  std::string failures;
  const auto note = [&failures](const Status& status) {
    if (status.ok()) return;
    neptune::StrAppend(&failures, failures.empty() ? "" : "; ", neptune::ToStd(status.message()));
  };
  const auto write = [&](const std::string& name, const std::string& text) {
    note(WriteWholeFile(folder + "/" + name, text));
  };
  write("summary.json", SummaryJson(run.setup, summary));
  write("setup.json", SetupJson(run.setup));
  write("latency.hgrm", PercentileDistribution(summary.all.latency));
  for (const auto& [name, c] : summary.classes) {
    write("latency-" + name + ".hgrm", PercentileDistribution(c.latency));
  }
  write("series.csv", SeriesCsv(summary));
  const StatusOr<std::string> html = ReportHtml(run, summary);
  note(html.status());
  if (html.ok()) write("report.html", *html);
  write("latency.hlog", IntervalLog(run));
  note(WriteRequests(folder + "/requests.csv.gz", run));
  return failures.empty() ? neptune::OkStatus() : neptune::Unavailable(failures);
}

}  // namespace search::tools
