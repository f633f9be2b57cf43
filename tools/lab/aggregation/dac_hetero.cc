// Reduction trees on servers, some of which are faster.

#include <algorithm>
#include <cmath>

#include "neptune/base/strings.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/rate_sweep.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr int kDuals = 20;
constexpr int kQuads = 4;
constexpr int kServers = kDuals + kQuads;
constexpr double kDualProcessors = 2;
constexpr double kQuadProcessors = 4 * kQuadSpeed;
constexpr double kFullPercent = 98;
constexpr char kFull[] = "full_percent";
constexpr char kFullRate[] = "full_per_s";
constexpr char kResponse[] = "response_ms_mean";
constexpr char kRate[] = "rate_per_s";

constexpr const char* kTrees[] = {"flat", "binomial", "lat"};

// The ceiling with evenly spread reductions: the dual nodes saturate first.
double EvenCeiling(const AggregationProfile& profile) {
  return profile.IdealRate(kServers, kDualProcessors);
}

// The ceiling with optimally placed reductions: the dual nodes do only local work, or all
// processors are busy.
double AdaptiveCeiling(const AggregationProfile& profile) {
  const double all = (kDuals * kDualProcessors + kQuads * kQuadProcessors) / kServers;
  return std::min(profile.IdealRate(kServers, all), 1e3 * kDualProcessors / profile.local_ms);
}

// Rates as shares of the ceiling with even reductions.
std::vector<double> Loads(Length length, const std::string& workload) {
  if (length == Length::kSmoke) return {1.0};
  if (workload == "RET") {
    if (length == Length::kQuick) return {0.45, 0.6, 0.75, 0.9};
    return {0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
  }
  if (length == Length::kQuick) return {0.85, 0.95, 1.05, 1.15};
  return {0.4, 0.6, 0.75, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.125, 1.15, 1.175};
}

Point PointOf(const std::string& workload, const std::string& scheme, double rate) {
  return Point{{"workload", workload}, {"scheme", scheme}}.Set(kRate, rate);
}

std::vector<std::string> Workloads(Length length) {
  if (length == Length::kSmoke) return {"MICRO"};
  return {"MICRO", "RET"};
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const std::string& workload : Workloads(length)) {
    const double ceiling = EvenCeiling(ProfileOf(workload));
    for (const double load : Loads(length, workload)) {
      for (const std::string scheme : kTrees) {
        points.push_back(PointOf(workload, scheme, std::round(100 * load * ceiling) / 100));
      }
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  AggregationClusterOptions cluster;
  cluster.server_count = kServers;
  for (int quad = kDuals; quad < kServers; ++quad) {
    cluster.other_processors[quad] = {.count = 4, .speed = kQuadSpeed};
  }
  AggregationLoadOptions load;
  load.profile = ProfileOf(point.Text("workload"));
  load.rate_per_s = point.Number(kRate);
  NEPTUNE_ASSIGN_OR_RETURN(load.scheme, neptune::ParseTreeScheme(point.Text("scheme")));
  // The same number of requests at every rate.
  const double count = context.Pick<double>(150, 400, 2000);
  load.warm_up = neptune::FromSeconds(0.25 * count / load.rate_per_s);
  load.duration = neptune::FromSeconds(count / load.rate_per_s);
  return MeasureAggregations(cluster, load, context.seed);
}

RateSweep SweepOf(const Results& results, const std::string& workload, const std::string& scheme) {
  return RateSweep(results, PointOf(workload, scheme, 0), kRate);
}

struct Gap {
  const char* baseline;
  double throughput_percent;  // more
  double response_percent;    // less
};

std::vector<Gap> GapsOf(const std::string& workload) {
  if (workload == "MICRO") return {{"binomial", 22.5, 55.1}, {"flat", 29.3, 62.3}};
  return {{"binomial", 21.0, 25.3}, {"flat", 29.9, 54.8}};
}

void JudgeWorkload(const Results& results, const std::string& workload, Judgement* judgement) {
  const RateSweep lat = SweepOf(results, workload, "lat");
  const double knee = lat.LastRateWith(kFull, kFullPercent);
  judgement->Shown(
      StrCat(workload, ", highest rate at which lat answers ", kFullPercent, " % within 2 s"), "",
      Estimate::OfAll(knee, results.run_count()), "/s");
  const AggregationProfile profile = ProfileOf(workload);
  const double model = AdaptiveCeiling(profile) / EvenCeiling(profile);
  judgement->Shown(
      StrCat(workload, ", the model's capacity relative to that with evenly spread reductions"), "",
      Estimate::Exact(model), "x");
  for (const Gap& gap : GapsOf(workload)) {
    const RateSweep baseline = SweepOf(results, workload, gap.baseline);
    const std::string over = StrCat(" over ", gap.baseline);
    // A knee is found in the means of all runs; leaving out each in turn gives its interval.
    const Estimate capacity = results.Jackknife([&](const Results& some) {
      return SweepOf(some, workload, "lat").LastRateWith(kFull, kFullPercent) /
             SweepOf(some, workload, gap.baseline).LastRateWith(kFull, kFullPercent);
    });
    if (workload == "MICRO") {
      judgement->AtLeast(StrCat(workload, ", capacity", over), "", capacity, 1.15, "x");
    } else {
      judgement->Shown(StrCat(workload, ", capacity", over), "", capacity, "x");
    }
    judgement->AtLeast(StrCat(workload, ", full answers per second at lat's highest rate", over),
                       StrCat("up to +", ShortText(gap.throughput_percent), " %"),
                       RatioAt(lat, baseline, kFullRate, knee), 1 + gap.throughput_percent / 100,
                       "x");
    judgement->AtMost(StrCat(workload, ", response time at lat's highest rate", over),
                      StrCat("up to -", ShortText(gap.response_percent), " %"),
                      RatioAt(lat, baseline, kResponse, knee), 1 - gap.response_percent / 100, "x");
    judgement
        ->NotAbove(
            StrCat(workload, ", response time at the capacity of evenly spread reductions", over),
            "", RatioAt(lat, baseline, kResponse, EvenCeiling(profile)), 1, 0.02, "x")
        .Shape();
  }
}

plot::Plot Figure(const Results& results, const std::string& workload, const std::string& metric) {
  const bool response = metric == kResponse;
  plot::Plot figure{.name = StrCat(workload, response ? "_response" : "_throughput"),
                    .title = StrCat(workload, " on 20 dual-processor and 4 quad-processor nodes"),
                    .x = {.label = "requests per second"},
                    .y = {.label = response ? "mean response, ms" : "full answers per second",
                          .logarithmic = response}};
  if (!response) figure.y.low = 0;
  for (const std::string scheme : kTrees) {
    plot::Series series = SweepOf(results, workload, scheme).SeriesOf(scheme, metric);
    // There is no mean if there are no answers.
    std::erase_if(series.dots, [](const plot::Dot& dot) { return dot.y <= 0; });
    figure.series.push_back(std::move(series));
  }
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  for (const std::string& workload : Workloads(results.length())) {
    JudgeWorkload(results, workload, judgement);
    judgement->AddPlot(Figure(results, workload, kResponse));
    judgement->AddPlot(Figure(results, workload, kFullRate));
  }
  judgement->Note(
      "Mean response times include only requests that are answered within 2 s with all "
      "partitions, so a scheme that answers fewer requests looks better. Values between measured "
      "rates are interpolated linearly.");
}

}  // namespace

Experiment DacHetero() {
  Experiment experiment;
  experiment.name = "dac_hetero";
  experiment.title = "Reduction trees on heterogeneous servers";
  experiment.source = "[Chu03] 5.3, figures 16 and 17";
  experiment.setup =
      "20 servers with two processors and 4 servers with four processors that are 1.25 times as "
      "fast, one partition each; otherwise the set-up of dac_trees. Let s and r be the times of "
      "a local operator and of a reduction. By the model, random trees reach their limit at 2 / "
      "(s + r (n-1)/n) requests per second, where the dual-processor nodes are saturated. The "
      "upper limit is reached when the dual-processor nodes do local work only, 2 / s, or when "
      "all processors are saturated.";
  experiment.seeds = {.smoke = 1, .quick = 4, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
