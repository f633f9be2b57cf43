// Reduction trees on equal servers: response time and throughput over the rate.

#include <algorithm>
#include <cmath>

#include "neptune/base/strings.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/rate_sweep.h"

namespace search::lab {
namespace {

using neptune::StrCat;
using neptune::TreeScheme;

constexpr int kServers = 24;
constexpr double kProcessors = 2;
// Definition of 100 % demand: this share of the requests gets complete answers within 2 s.
constexpr double kFullPercent = 98;
constexpr char kFull[] = "full_percent";
constexpr char kResponse[] = "response_ms_mean";
constexpr char kRate[] = "rate_per_s";

constexpr const char* kTrees[] = {"flat",         "binomial",   "lat",
                                  "lat measured", "lat polled", "lat stale"};

// Rates as shares of the servers' maximum; those of Base are shares of its own ceiling. Heavy tails
// saturate sooner.
std::vector<double> Loads(Length length, const std::string& workload) {
  if (length == Length::kSmoke) return {0.8};
  if (workload == "RET") {
    if (length == Length::kQuick) return {0.3, 0.45, 0.6, 0.75};
    return {0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  }
  if (length == Length::kQuick) return {0.7, 0.8, 0.875, 0.95};
  return {0.3, 0.5, 0.65, 0.75, 0.825, 0.875, 0.925, 0.975};
}

// The ceiling of Base with k processors on the caller and on every server: k * min{1 / nr, 1 / s}.
double BaseCeiling(const AggregationProfile& profile) {
  return kProcessors * 1e3 * std::min(1 / (kServers * profile.reduce_ms), 1 / profile.local_ms);
}

double RateFor(const AggregationProfile& profile, const std::string& scheme, double load) {
  const double most =
      scheme == "base" ? BaseCeiling(profile) : profile.IdealRate(kServers, kProcessors);
  return std::round(100 * load * most) / 100;
}

Point PointOf(const std::string& workload, const std::string& scheme, double rate) {
  return Point{{"workload", workload}, {"scheme", scheme}}.Set(kRate, rate);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const std::string workload : {"MICRO", "RET"}) {
    if (length == Length::kSmoke && workload == "RET") continue;
    const AggregationProfile profile = ProfileOf(workload);
    for (const double load : Loads(length, workload)) {
      for (const std::string scheme : kTrees) {
        if (length == Length::kSmoke && scheme.starts_with("lat ")) continue;
        points.push_back(PointOf(workload, scheme, RateFor(profile, scheme, load)));
      }
    }
    for (const double load : {0.6, 0.9, 1.0, 1.1, 1.5}) {
      if (length == Length::kSmoke && load != 1.0) continue;
      points.push_back(PointOf(workload, "base", RateFor(profile, "base", load)));
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const std::string scheme = point.Text("scheme");
  AggregationClusterOptions cluster;
  cluster.server_count = kServers;
  if (scheme == "base") cluster.client_count = 1;
  if (scheme == "lat measured") cluster.load_information = LoadInformation::kMeasured;
  if (scheme == "lat polled") cluster.load_information = LoadInformation::kPolled;
  if (scheme == "lat stale") cluster.load_information = LoadInformation::kAnnounced;
  AggregationLoadOptions load;
  load.profile = ProfileOf(point.Text("workload"));
  load.rate_per_s = point.Number(kRate);
  NEPTUNE_ASSIGN_OR_RETURN(load.scheme,
                           neptune::ParseTreeScheme(scheme.substr(0, scheme.find(' '))));
  // The same number of requests at every rate.
  const double count = context.Pick<double>(150, 300, 2000);
  load.warm_up = neptune::FromSeconds(0.25 * count / load.rate_per_s);
  load.duration = neptune::FromSeconds(count / load.rate_per_s);
  return MeasureAggregations(cluster, load, context.seed);
}

// Known causes.
constexpr char kWhyNoGap[] =
    "the rate is 95 % of the capacity of flat, the worst scheme, and below that of binomial. "
    "Also, a tree is formed before its reductions arrive, and by then other servers are the "
    "lightly loaded ones: lat measured, which knows all current loads, does not reach the line "
    "either";
constexpr char kWhyBaseEnds[] =
    "the model's capacity assumes an unbounded queue. Near it the caller's own queue takes most "
    "of the 2 s, too little time remains for the heavy tail of local times, and answers miss a "
    "few partitions; weighted by quality they reach the model's capacity";
// "Never worse by more than 2 %".
constexpr double kNeverWorse = 0.02;
constexpr char kWhyWorse[] =
    "callers learn loads late: a tree formed from old loads gives the reductions to servers that "
    "have become busy since";

RateSweep SweepOf(const Results& results, const std::string& workload, const std::string& scheme) {
  return RateSweep(results, PointOf(workload, scheme, 0), kRate);
}

// Adds the lines of one source of loads, compared with a baseline.
void JudgeTree(const Results& results, const std::string& workload, const std::string& ours,
               double capacity, Judgement* judgement) {
  struct Gap {
    const char* baseline;
    const char* paper;
    double ratio;
  };
  const bool is_micro = workload == "MICRO";
  const Gap gaps[] = {
      {"binomial", is_micro ? "up to 38.7 % better" : "up to 16.3 % better", 1 - 0.387},
      {"flat", is_micro ? "up to 39.8 % better" : "up to 39.0 % better", 1 - 0.398}};
  const RateSweep lat = SweepOf(results, workload, ours);
  for (const Gap& gap : gaps) {
    const RateSweep baseline = SweepOf(results, workload, gap.baseline);
    for (const double part : {0.8, 0.9, 0.95}) {
      const Estimate ratio = RatioAt(lat, baseline, kResponse, part * capacity);
      const bool reaches = is_micro && ours == "lat" && part == 0.95;
      const std::string what = StrCat(workload, ", response time of ", ours, " over ", gap.baseline,
                                      " at ", ShortText(100 * part), " %");
      const std::string paper = part == 0.95 ? gap.paper : "";
      Row& row = reaches ? judgement->AtMost(what, paper, ratio, gap.ratio, "x")
                         : judgement->NotAbove(what, paper, ratio, 1, kNeverWorse, "x");
      if (std::string(gap.baseline) == "flat" && !reaches) row.Shape();
      if (reaches) row.ShortOfLine(kWhyNoGap);
      if (!reaches && ours != "lat measured") row.ShortOfLine(kWhyWorse);
    }
  }
}

void JudgeWorkload(const Results& results, const std::string& workload, Judgement* judgement) {
  const AggregationProfile profile = ProfileOf(workload);
  double worst = 1e9;
  for (const std::string scheme : kTrees) {
    if (!results.Has(PointOf(workload, scheme, RateFor(profile, scheme, 0.8))) &&
        results.length() == Length::kSmoke) {
      continue;
    }
    const double capacity = SweepOf(results, workload, scheme).LastRateWith(kFull, kFullPercent);
    judgement->Shown(
        StrCat(workload, ", ", scheme, ", highest rate with ", kFullPercent, " % within 2 s"), "",
        Estimate::OfAll(capacity, results.run_count()), "/s");
    if (!scheme.starts_with("lat")) worst = std::min(worst, capacity);
  }
  for (const std::string ours : {"lat", "lat measured", "lat polled", "lat stale"}) {
    if (ours != "lat" && results.length() == Length::kSmoke) continue;
    JudgeTree(results, workload, ours, worst, judgement);
  }
  const double ceiling = BaseCeiling(profile);
  Estimate best = SweepOf(results, workload, "base").Best("full_per_s");
  best = Scaled(best, 1 / ceiling);
  Row& row = judgement->Between(StrCat(workload,
                                       ", highest throughput of base relative to "
                                       "min{1/nr, 1/s}"),
                                "1", best, 0.85, 1.05, "x");
  if (workload == "RET") row.ShortOfLine(kWhyBaseEnds);
  const Estimate by_quality = Scaled(
      SweepOf(results, workload, "base").MeanAt("quality_per_s", RateFor(profile, "base", 1)),
      1 / ceiling);
  judgement->Shown(StrCat(workload, ", the same at that rate, with answers weighted by quality"),
                   "", by_quality, "x");
}

plot::Plot Figure(const Results& results, const std::string& workload, const std::string& metric) {
  const bool response = metric == kResponse;
  plot::Plot figure{.name = StrCat(workload, response ? "_response" : "_throughput"),
                    .title = StrCat(workload, " on 24 dual-processor nodes"),
                    .x = {.label = "requests per second"},
                    .y = {.label = response ? "mean response, ms" : "full answers per second",
                          .logarithmic = response}};
  if (!response) figure.y.low = 0;
  for (const std::string scheme :
       {"base", "flat", "binomial", "lat", "lat measured", "lat polled", "lat stale"}) {
    plot::Series series = SweepOf(results, workload, scheme).SeriesOf(scheme, metric);
    // There is no mean if there are no answers.
    std::erase_if(series.dots, [](const plot::Dot& dot) { return dot.y <= 0; });
    figure.series.push_back(std::move(series));
  }
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  for (const std::string workload : {"MICRO", "RET"}) {
    if (workload == "RET" && results.length() == Length::kSmoke) continue;
    JudgeWorkload(results, workload, judgement);
    if (results.length() == Length::kSmoke) continue;
    judgement->AddPlot(Figure(results, workload, kResponse));
    judgement->AddPlot(Figure(results, workload, "full_per_s"));
  }
  judgement->Note(
      "Percentages are relative to the rate at which the worse of flat and binomial still "
      "answers 98 % of the requests within 2 s with all partitions. Mean response times include "
      "only such answers; values between measured rates are interpolated linearly.");
}

}  // namespace

Experiment DacTrees() {
  Experiment experiment;
  experiment.name = "dac_trees";
  experiment.title = "Reduction trees on homogeneous servers";
  experiment.source = "[Chu03] 5.3, figures 14 and 15";
  experiment.setup =
      "24 servers with two processors and one partition each; six callers, one for base. Each "
      "server has two queues of non-preemptive work, reductions first; at most 40 requests wait, "
      "and expired ones are dropped. The soft deadline is 2 s, one-way delays are 170 us "
      "(streams) and 145 us (datagrams). MICRO: exponential local times of 25 ms and reductions "
      "of 5 ms. RET: log-normal local times with a mean of 91 ms and a standard deviation of the "
      "logarithm of 1.1, as in our own index, with half of the variance common to a query's "
      "partitions; exponential reductions of 11.5 ms, in the ratio measured for the index. lat "
      "learns loads from announcements every second, from answers, and from two polls per call "
      "that also carry what the server has heard about others, as in the runtime. lat polled "
      "uses announcements and two polls per call of the server's own load, lat stale "
      "announcements only; lat measured reads the current pending work of every server. All "
      "schemes receive the same requests at the same times.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
