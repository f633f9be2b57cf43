// Event-driven aggregation compared with threads that wait for their children, with the best number
// of threads.

#include <algorithm>
#include <cmath>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr int kServers = 24;
constexpr char kQuality[] = "quality_per_s";
constexpr char kOffered[] = "offered_per_s";
constexpr char kMean[] = "response_ms_mean";
constexpr char kEvent[] = "event-driven";
// Threads of a blocking server.
constexpr int kPools[] = {4, 8, 16, 32, 64};
// Offered rates are a geometric series in which 1.2 times a rate is the rate kStepsTo12 steps
// later.
constexpr int kStepsTo12 = 3;
const double kStep = std::pow(1.2, 1.0 / kStepsTo12);
constexpr double kFirstShare = 0.4;
constexpr int kRateCount = 20;
// A scheme copes with a rate if it answers at least this share.
constexpr double kCopes = 0.98;

double IdealRate() { return MicroProfile().IdealRate(kServers, 2); }
double ShareOf(int step) { return kFirstShare * std::pow(kStep, step); }
std::string Blocking(int pool) { return StrCat("blocking, ", pool, " threads"); }

Point PointOf(const std::string& scheme, int step) {
  return Point{{"scheme", scheme}}.Set("step", step);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (int step = 0; step < kRateCount; ++step) {
    if (length == Length::kSmoke && step != 2 && step != 17) continue;
    if (length == Length::kQuick && step % kStepsTo12 != 0) continue;
    points.push_back(PointOf(kEvent, step));
    for (const int pool : kPools) {
      if (length == Length::kSmoke && pool != 8) continue;
      points.push_back(PointOf(Blocking(pool), step));
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  AggregationClusterOptions cluster;
  cluster.server_count = kServers;
  AggregationLoadOptions load;
  for (const int pool : kPools) {
    if (point.Text("scheme") != Blocking(pool)) continue;
    cluster.concurrency = pool;
    cluster.threads_wait = true;
  }
  load.rate_per_s = IdealRate() * ShareOf(static_cast<int>(point.Number("step")));
  load.warm_up = std::chrono::seconds(context.Pick(1, 3, 5));
  load.duration = std::chrono::seconds(context.Pick(2, 8, 30));
  Measurement measurement = MeasureAggregations(cluster, load, context.seed);
  measurement[kOffered] = load.rate_per_s;
  return measurement;
}

std::vector<int> Steps(const Results& results) {
  std::vector<int> steps;
  for (const Point& point : results.points()) {
    if (point.Text("scheme") == kEvent) steps.push_back(static_cast<int>(point.Number("step")));
  }
  return steps;
}

double QualityAt(const Results& results, const std::string& scheme, int step) {
  return results.Mean(PointOf(scheme, step), kQuality).middle;
}

// The last step up to which the scheme copes with all rates; -1: none.
int KneeOf(const Results& results, const std::string& scheme) {
  int knee = -1;
  for (const int step : Steps(results)) {
    if (QualityAt(results, scheme, step) < kCopes * IdealRate() * ShareOf(step)) break;
    knee = step;
  }
  return knee;
}

// Among the schemes that cope longest, the one with the most answers over all rates.
std::string BestBlocking(const Results& results) {
  const auto merit = [&](const std::string& scheme) {
    double sum = 0;
    for (const int step : Steps(results)) sum += QualityAt(results, scheme, step);
    return std::pair(KneeOf(results, scheme), sum);
  };
  std::string best;
  for (const int pool : kPools) {
    const std::string scheme = Blocking(pool);
    if (!results.Has(PointOf(scheme, Steps(results).front()))) continue;
    if (best.empty() || merit(scheme) > merit(best)) best = scheme;
  }
  return best;
}

plot::Plot Figure(const Results& results, const char* metric, const std::string& title,
                  const std::string& label) {
  plot::Plot figure{.name = StrCat("event_", metric),
                    .title = title,
                    .x = {.label = "offered requests per second"},
                    .y = {.label = label, .low = 0}};
  std::vector<std::string> schemes = {kEvent};
  for (const int pool : kPools) schemes.push_back(Blocking(pool));
  for (const std::string& scheme : schemes) {
    plot::Series series{.name = scheme, .dots = {}};
    for (const int step : Steps(results)) {
      if (!results.Has(PointOf(scheme, step))) continue;
      const Estimate value = results.Mean(PointOf(scheme, step), metric);
      series.dots.push_back({IdealRate() * ShareOf(step), value.middle, value.low, value.high});
    }
    if (!series.dots.empty()) figure.series.push_back(std::move(series));
  }
  return figure;
}

void JudgeKnee(const Results& results, const std::string& blocking, Judgement* judgement) {
  const int knee = KneeOf(results, blocking);
  judgement->Shown(StrCat("highest rate that the best blocking pool sustains (", blocking, ")"),
                   "about 45 of 60 per second",
                   Estimate::OfAll(knee < 0 ? 0 : IdealRate() * ShareOf(knee), results.run_count()),
                   "/s");
  const int beyond = std::max(knee, 0) + kStepsTo12;
  const auto steps = Steps(results);
  if (std::find(steps.begin(), steps.end(), beyond) == steps.end()) return;
  const double capacity = IdealRate() * std::min(1.0, ShareOf(beyond));
  const auto share = [&](const std::string& scheme) {
    return Scaled(results.Mean(PointOf(scheme, beyond), kQuality), 100 / capacity);
  };
  const std::string at =
      StrCat(" at 1.2 times that rate, ", ShortText(std::round(IdealRate() * ShareOf(beyond))),
             "/s, relative to the cluster's capacity");
  judgement->AtLeast(StrCat("event-driven", at), "no plunge", share(kEvent), 95, "%");
  judgement->Shown(StrCat(blocking, at), "plunges", share(blocking), "%");
}

void Judge(const Results& results, Judgement* judgement) {
  const std::string blocking = BestBlocking(results);
  JudgeKnee(results, blocking, judgement);
  const int last = Steps(results).back();
  judgement
      ->AtLeast("event-driven relative to the best blocking pool, at the highest rate", "",
                results.MeanRatio(PointOf(kEvent, last), PointOf(blocking, last), kQuality), 1, "x")
      .Shape();
  for (const Point& point : results.points()) {
    if (point.Number("step") != last) continue;
    judgement->Shown(StrCat(point.Text("scheme"), " at ",
                            ShortText(std::round(IdealRate() * ShareOf(last))), "/s"),
                     "", results.Mean(point, kQuality), "/s");
  }
  judgement->AddPlot(Figure(results, kQuality, "Quality-aware throughput (figure 18)",
                            "answers weighted by quality, per second"));
  judgement->AddPlot(
      Figure(results, kMean, "Response time of full answers (figure 19)", "mean response, ms"));
}

}  // namespace

Experiment DacEvent() {
  Experiment experiment;
  experiment.name = "dac_event";
  experiment.title = "Event-driven aggregation";
  experiment.source = "[Chu03] 5.4, figures 18 and 19";
  experiment.setup =
      "MICRO on 24 dual-processor nodes with load-adaptive trees, staged timeouts and a soft "
      "deadline of 2 s; partial answers count by their quality. In a blocking server a thread "
      "waits for the results of its children and then reduces them. The size of its thread pool "
      "is swept, and the size that sustains the highest rate is the baseline. A rate is "
      "sustained if 98 % of the requests are answered. Threads have no cost of their own in the "
      "simulated world, so large pools lose by the order of work only: reductions wait behind "
      "local operators. The cluster's capacity is nk / (ns + (n - 1) r), or the offered rate if "
      "that is lower.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
