#include "tools/replay/summary.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "neptune/base/strings.h"
#include "tools/terminal/progress.h"

namespace search::tools {
namespace {

using Json = nlohmann::ordered_json;
using neptune::Histogram;

constexpr double kNsPerS = 1e9;
constexpr double kNsPerMs = 1e6;
constexpr double kTimeoutMaxS = 1e6;

double Millis(uint64_t ns) { return static_cast<double>(ns) / kNsPerMs; }

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

int64_t CountedLatency(const RunSetup& setup, const Measurement& m) {
  if (m.outcome == Outcome::kAnswered) return m.latency_ns();
  const double timeout_s = std::clamp(setup.timeout_s, 0.0, kTimeoutMaxS);
  return std::max(m.latency_ns(), static_cast<int64_t>(timeout_s * kNsPerS));
}

void Count(const RunSetup& setup, const Measurement& m, double full_yield, ClassSummary* into) {
  ++into->outcomes[static_cast<size_t>(m.outcome)];
  into->latency.Record(static_cast<uint64_t>(std::max<int64_t>(0, CountedLatency(setup, m))));
  into->yield_offered += full_yield;
  if (m.outcome != Outcome::kAnswered) return;
  const double latency_s = static_cast<double>(m.latency_ns()) / kNsPerS;
  into->service.Record(static_cast<uint64_t>(std::max<int64_t>(0, m.service_ns())));
  into->yield += full_yield * setup.yield.ShareAfter(latency_s);
  into->quality_sum += m.quality;
  if (latency_s <= setup.yield.deadline_s) into->quality_in_time_sum += m.quality;
  into->partial_count += m.quality < 1;
  into->terminated_count += m.terminated;
  into->cache_hit_count += m.cache == CacheFact::kHit;
  into->cache_known_count += m.cache != CacheFact::kUnknown;
}

void SummarizeSecond(const RunSetup& setup, const Measurement* begin, const Measurement* end,
                     SecondSummary* second) {
  std::vector<int64_t> latencies;
  int64_t lateness_max = 0;
  for (const Measurement* m = begin; m != end; ++m) {
    ++second->request_count;
    ++(m->outcome == Outcome::kAnswered ? second->answered_count : second->lost_count);
    second->quality_sum += m->quality;
    second->cache_hit_count += m->cache == CacheFact::kHit;
    latencies.push_back(CountedLatency(setup, *m));
    lateness_max = std::max(lateness_max, m->lateness_ns());
  }
  if (latencies.empty()) return;
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](double share) {
    const auto rank = static_cast<size_t>(share * static_cast<double>(latencies.size() - 1) + 0.5);
    return static_cast<double>(latencies[rank]) / kNsPerMs;
  };
  second->p50_ms = at(0.5);
  second->p99_ms = at(0.99);
  second->max_ms = at(1);
  second->lateness_max_ms = static_cast<double>(lateness_max) / kNsPerMs;
}

void SummarizeSeconds(const RunSetup& setup, std::vector<Measurement> sorted,
                      std::vector<SecondSummary>* seconds) {
  std::sort(sorted.begin(), sorted.end(), [](const Measurement& a, const Measurement& b) {
    return a.intended_ns < b.intended_ns;
  });
  const Measurement* const end = sorted.data() + sorted.size();
  for (const Measurement* m = sorted.data(); m != end;) {
    const auto second = static_cast<size_t>(m->intended_ns / kNsPerS);
    const Measurement* next = m;
    while (next != end && static_cast<size_t>(next->intended_ns / kNsPerS) == second) ++next;
    seconds->resize(second + 1);
    SummarizeSecond(setup, m, next, &seconds->back());
    m = next;
  }
}

std::string WhyInvalid(const RunSetup& setup, const RunSummary& summary, bool complete) {
  if (summary.all.request_count() == 0) return "no request is in the measured window";
  const double lateness_ms = Millis(summary.lateness.Percentile(0.99));
  if (lateness_ms > setup.lateness_p99_ms_max) {
    char text[160];
    std::snprintf(
        text, sizeof(text),
        "the generator was late: 99 %% of requests were sent within %.2f ms of their times; "
        "the bound is %.2f ms",
        lateness_ms, setup.lateness_p99_ms_max);
    return text;
  }
  return complete ? "" : "the run ended before the end of its plan";
}

Json LatencyJson(const Histogram& histogram) {
  const auto at = [&](double share) { return Millis(histogram.Percentile(share)); };
  return {{"mean", histogram.Mean() / kNsPerMs},
          {"p50", at(0.5)},
          {"p90", at(0.9)},
          {"p95", at(0.95)},
          {"p99", at(0.99)},
          {"p99.9", at(0.999)},
          {"p99.99", at(0.9999)},
          {"max", Millis(histogram.max())}};
}

Json ClassJson(const RunSummary& run, const ClassSummary& c) {
  Json json;
  json["requests"] = c.request_count();
  for (int i = 0; i < kOutcomeCount; ++i) {
    json[std::string(OutcomeName(static_cast<Outcome>(i)))] = c.outcomes[static_cast<size_t>(i)];
  }
  json["partial"] = c.partial_count;
  json["offered_rate"] = run.Rate(static_cast<double>(c.request_count()));
  json["goodput"] = run.Rate(static_cast<double>(c.answered_count()));
  json["quality_aware_throughput"] = run.Rate(c.quality_in_time_sum);
  json["loss"] = c.LossShare();
  json["yield"] = c.yield;
  json["yield_loss_percent"] = c.LossPercent();
  json["coverage"] = c.Coverage();
  json["cache_hit_share"] = c.CacheHitShare();
  json["terminated_share"] = c.TerminatedShare();
  json["latency_ms"] = LatencyJson(c.latency);
  json["service_ms"] = LatencyJson(c.service);
  return json;
}

template <typename... Args>
void Append(std::string* out, const char* format, Args... args) {
  char line[320];
  std::snprintf(line, sizeof(line), format, args...);
  *out += line;
}

void AppendClass(std::string* out, const std::string& name, const ClassSummary& c) {
  const auto at = [&](double share) { return Millis(c.latency.Percentile(share)); };
  Append(out, "%-10s %10s %8.2f %8.2f %8.2f %8.2f %8.2f %7.2f %7.2f %9.4f %7.1f\n", name.c_str(),
         WithThousands(c.request_count()).c_str(), at(0.5), at(0.9), at(0.99), at(0.999),
         Millis(c.latency.max()), 100 * c.LossShare(), c.LossPercent(), c.Coverage(),
         100 * c.CacheHitShare());
}

}  // namespace

uint64_t ClassSummary::request_count() const {
  uint64_t sum = 0;
  for (const uint64_t count : outcomes) sum += count;
  return sum;
}

double ClassSummary::LossShare() const {
  return Share(static_cast<double>(lost_count()), static_cast<double>(request_count()));
}
double ClassSummary::LossPercent() const {
  return 100 * Share(yield_offered - yield, yield_offered);
}
double ClassSummary::Coverage() const {
  return Share(quality_sum, static_cast<double>(answered_count()));
}
double ClassSummary::CacheHitShare() const {
  return Share(static_cast<double>(cache_hit_count), static_cast<double>(cache_known_count));
}
double ClassSummary::TerminatedShare() const {
  return Share(static_cast<double>(terminated_count), static_cast<double>(answered_count()));
}

RunSummary Summarize(const RunSetup& setup, const std::vector<Measurement>& measurements,
                     bool complete) {
  RunSummary summary;
  summary.window_begin_s = setup.warmup_s;
  double end_s = complete ? setup.duration_s : 0;
  for (const Measurement& m : measurements) {
    const double intended_s = static_cast<double>(m.intended_ns) / kNsPerS;
    if (!complete) end_s = std::max(end_s, intended_s);
    if (intended_s < setup.warmup_s) continue;
    const std::string& name = setup.classes[m.service_class];
    const double full = setup.yield.FullOf(name);
    Count(setup, m, full, &summary.all);
    Count(setup, m, full, &summary.classes[name]);
    summary.lateness.Record(static_cast<uint64_t>(std::max<int64_t>(0, m.lateness_ns())));
  }
  summary.window_s = std::max(0.0, end_s - setup.warmup_s);
  SummarizeSeconds(setup, measurements, &summary.seconds);
  summary.invalid = WhyInvalid(setup, summary, complete);
  return summary;
}

std::string SummaryJson(const RunSetup& setup, const RunSummary& summary) {
  Json classes = Json::object();
  for (const auto& [name, c] : summary.classes) classes[name] = ClassJson(summary, c);
  const Json document = {{"valid", summary.valid()},
                         {"invalid", summary.invalid},
                         {"window_begin_s", summary.window_begin_s},
                         {"window_s", summary.window_s},
                         {"lateness_ms", LatencyJson(summary.lateness)},
                         {"all", ClassJson(summary, summary.all)},
                         {"classes", std::move(classes)},
                         {"setup", Json::parse(SetupJson(setup))}};
  return document.dump(1) + "\n";
}

std::string SummaryText(const RunSetup& setup, const RunSummary& s) {
  std::string out;
  Append(&out, "%-10s %10s %8s %8s %8s %8s %8s %7s %7s %9s %7s\n", "ms", "requests", "p50", "p90",
         "p99", "p99.9", "max", "lost %", "yield-%", "coverage", "hits %");
  AppendClass(&out, "all", s.all);
  for (const auto& [name, c] : s.classes) AppendClass(&out, name, c);
  Append(&out, "service    %10s %8.2f %8.2f %8.2f %8.2f %8.2f   (answers, since sending)\n", "",
         Millis(s.all.service.Percentile(0.5)), Millis(s.all.service.Percentile(0.9)),
         Millis(s.all.service.Percentile(0.99)), Millis(s.all.service.Percentile(0.999)),
         Millis(s.all.service.max()));
  Append(&out, "lateness   %10s %8.2f %8.2f %8.2f %8.2f %8.2f   (sent after its time)\n\n", "",
         Millis(s.lateness.Percentile(0.5)), Millis(s.lateness.Percentile(0.9)),
         Millis(s.lateness.Percentile(0.99)), Millis(s.lateness.Percentile(0.999)),
         Millis(s.lateness.max()));
  Append(
      &out,
      "%.1f answers a second, %.1f with their quality within %.3g s; window %.1f s after %.1f s\n",
      s.Goodput(), s.QualityThroughput(), setup.yield.deadline_s, s.window_s, s.window_begin_s);
  for (int i = 1; i < kOutcomeCount; ++i) {
    const uint64_t count = s.all.outcomes[static_cast<size_t>(i)];
    if (count > 0) {
      Append(&out, "%s lost: %s\n", WithThousands(count).c_str(),
             std::string(OutcomeName(static_cast<Outcome>(i))).c_str());
    }
  }
  if (s.all.partial_count > 0) {
    Append(&out, "%s partial answers\n", WithThousands(s.all.partial_count).c_str());
  }
  if (s.all.terminated_count > 0) {
    Append(&out, "%.2f %% of answers were cut short\n", 100 * s.all.TerminatedShare());
  }
  if (s.valid()) return out + "the run is valid\n";
  return out + "THE RUN IS INVALID: " + s.invalid + "\n";
}

}  // namespace search::tools
