// Overload: calls that can no longer be answered are cancelled down their trees, or continue in
// vain until a stage or the deadline ends.

#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr int kServers = 24;
constexpr char kQuality[] = "quality_per_s";
constexpr char kWasted[] = "wasted_cpu_percent";
constexpr double kDemands[] = {0.5, 0.75, 1.0, 1.25, 1.5, 2.0};
constexpr double kJudged = 1.5;
// Minimum shares of contributing partitions.
constexpr double kGuarantees[] = {1.0, 0.9};

Point PointOf(const std::string& cancellation, double guarantee, double demand) {
  return Point{{"cancellation", cancellation}}.Set("guarantee", guarantee).Set("demand", demand);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const double demand : kDemands) {
    if (length == Length::kSmoke && demand != kJudged) continue;
    if (length == Length::kQuick && demand != kJudged && demand != 0.75) continue;
    for (const double guarantee : kGuarantees) {
      for (const std::string cancellation : {"on", "off"}) {
        points.push_back(PointOf(cancellation, guarantee, demand));
      }
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  AggregationClusterOptions options;
  options.seed = context.seed;
  options.server_count = kServers;
  AggregationLoadOptions load;
  load.rate_per_s = MicroProfile().IdealRate(kServers, 2) * point.Number("demand");
  load.warm_up = std::chrono::seconds(context.Pick(1, 5, 5));
  load.duration = std::chrono::seconds(context.Pick(3, 10, 40));
  load.quality_min = point.Number("guarantee");
  load.slice = std::chrono::milliseconds(1);
  load.uncancelled = point.Text("cancellation") == "off";
  AggregationCluster cluster(options);
  const AggregationRunResult result = RunAggregations(cluster, load, context.seed);
  const double used = neptune::ToSeconds(result.server_time);
  return Measurement{
      {kQuality, result.QualityRate()},
      {"response_ms_mean", result.MeanMs()},
      {kWasted, used == 0 ? 0 : 100 * (1 - neptune::ToSeconds(result.AnsweredTime()) / used)}};
}

std::string Name(const std::string& cancellation) {
  return cancellation == "on" ? "cancelled" : "not cancelled";
}

plot::Plot Figure(const Results& results, const char* metric, const std::string& title,
                  const std::string& label) {
  plot::Plot figure{.name = StrCat("cancel_", metric),
                    .title = title,
                    .x = {.label = "demand, % of the cluster's capacity"},
                    .y = {.label = label, .low = 0}};
  for (const double guarantee : kGuarantees) {
    for (const std::string cancellation : {"on", "off"}) {
      plot::Series series{.name = StrCat(Name(cancellation), ", guarantee ", 100 * guarantee, " %"),
                          .dots = {}};
      for (const double demand : kDemands) {
        const Point point = PointOf(cancellation, guarantee, demand);
        if (!results.Has(point)) continue;
        const Estimate value = results.Mean(point, metric);
        series.dots.push_back({100 * demand, value.middle, value.low, value.high});
      }
      if (!series.dots.empty()) figure.series.push_back(std::move(series));
    }
  }
  return figure;
}

constexpr char kWhyLate[] =
    "with a guarantee of 90 % a call of 24 partitions fails when it loses the third, not the "
    "first: "
    "until then its other partitions work, and that work counts as wasted when the third is lost";

void JudgeGuarantee(const Results& results, double guarantee, Judgement* judgement) {
  const Estimate mine = results.Mean(PointOf("on", guarantee, kJudged), kQuality);
  const Estimate theirs = results.Mean(PointOf("off", guarantee, kJudged), kQuality);
  const std::string at =
      StrCat(", guarantee ", 100 * guarantee, " %, at ", 100 * kJudged, " % demand");
  Row& wasted = judgement->AtMost("processor time spent on calls that were not answered" + at, "",
                                  results.Mean(PointOf("on", guarantee, kJudged), kWasted), 2, "%");
  wasted.ShortOfLine(kWhyLate);
  Row& gain = judgement->AtLeast("increase of quality-aware throughput over the baseline" + at,
                                 "future work", ExcessPercent(RatioOf(mine, theirs)), 25, "%");
  if (guarantee < 1) return;
  wasted.Shape();
  gain.Shape();
}

void Judge(const Results& results, Judgement* judgement) {
  for (const double guarantee : kGuarantees) JudgeGuarantee(results, guarantee, judgement);
  for (const Point& point : results.points()) {
    const std::string what =
        StrCat(Name(point.Text("cancellation")), ", guarantee ", 100 * point.Number("guarantee"),
               " %, demand ", 100 * point.Number("demand"), " %");
    judgement->Shown(StrCat("answered, ", what), "", results.Mean(point, kQuality), "/s");
    judgement->Shown(StrCat("wasted, ", what), "", results.Mean(point, kWasted), "%");
  }
  judgement->AddPlot(Figure(results, kQuality, "Quality-aware throughput", "per second"));
  judgement->AddPlot(
      Figure(results, kWasted, "Processor time spent on calls that were not answered", "percent"));
}

}  // namespace

Experiment DacCancel() {
  Experiment experiment;
  experiment.name = "dac_cancel";
  experiment.title = "Cancellation of aggregation calls along the reduction tree";
  experiment.source = "future work of [Zhou06]; [Chu03] 3.2 (guarantees)";
  experiment.setup =
      "MICRO on 24 dual-processor nodes with a soft deadline of 2 s and queues of at most 40 "
      "requests. All partitions are guaranteed, or 90 % of them. Local operators work in slices of "
      "1 ms and check between slices whether a caller still waits. The baseline has the same "
      "deadlines, also in every queue, where expired requests are dropped; but a call that has "
      "lost "
      "a partition continues in all others, and servers are asked to stop only when a stage or the "
      "deadline ends. Wasted time is the servers' processor time that contributes to no answer. "
      "Demand is relative to nk / (ns + (n - 1) r), 67 requests per second.";
  experiment.seeds = {.smoke = 1, .quick = 4, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
