// Servers that could attract all calls: one fails at once, one hangs, one has just joined.

#include <algorithm>

#include "neptune/base/strings.h"
#include "tools/lab/balancing/balancing_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr int kServers = 16;
constexpr double kLoad = 0.8;
// On the load's clock: the begin of the fault, and the begin and end of the measurement.
constexpr double kBeginS = 5;
constexpr double kCountFromS = 6;
constexpr double kShareMax[] = {1.1, 0.01, 1.2};
constexpr const char* kCases[] = {"fails at once", "hangs", "just joined"};
constexpr const char* kScripts[] = {"5s fail s0 0.02", "5s hang s0", "5s restart s0"};
constexpr char kShare[] = "share_of_fair";

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const std::string one : kCases) {
    for (const std::string policy : {"probe_pool", "poll 3", "random"}) {
      for (const double service : {5, 20}) {
        if (length == Length::kSmoke && (service == 20 || policy == "random")) continue;
        points.push_back(Point{{"case", one}, {"policy", policy}}.Set("service_ms", service));
      }
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const auto number = static_cast<size_t>(
      std::find(std::begin(kCases), std::end(kCases), point.Text("case")) - std::begin(kCases));
  SimClusterOptions options;
  options.seed = context.seed;
  SetPolicy(point.Text("policy"), &options);
  if (point.Text("case") == "just joined") options.absent = {"s0"};
  SimCluster cluster(options);
  NEPTUNE_ASSIGN_OR_RETURN(const auto script, workload::ParseScript(kScripts[number]));
  NEPTUNE_RETURN_IF_ERROR(cluster.Schedule(script));
  const double service = point.Number("service_ms");
  const double end_s = context.Pick<double>(8, 12, 26);
  SimLoadOptions load;
  load.service_ms = workload::Distribution::Exponential(service);
  load.gap_ms = workload::Distribution::Exponential(service / (kLoad * kServers));
  load.count = static_cast<uint64_t>(end_s * 1000 / load.gap_ms.mean());
  load.timeout = std::chrono::seconds(1);
  const SimLoadResult result = RunLoad(cluster, load, context.seed);

  uint64_t counted = 0;
  uint64_t to_sink = 0;
  uint64_t lost = 0;
  for (const SimOutcome& one : result.outcomes) {
    if (one.arrived - result.began < neptune::FromSeconds(kCountFromS)) continue;
    ++counted;
    to_sink += one.server == 0;
    lost += one.status != neptune::StatusCode::kOk;
  }
  return Measurement{
      {kShare, static_cast<double>(to_sink * kServers) / static_cast<double>(counted)},
      {"loss_percent", 100.0 * static_cast<double>(lost) / static_cast<double>(counted)}};
}

void Judge(const Results& results, Judgement* judgement) {
  plot::Plot figure{
      .name = "sink",
      .title = "Share of calls that a faulty server receives, 5 ms service time",
      .x = {.label = "1: fails at once   2: hangs   3: just joined", .low = 0.5, .high = 3.5},
      .y = {.label = "share relative to the fair share", .low = 0}};
  for (const std::string policy : {"probe_pool", "poll 3", "random"}) {
    plot::Series series{.name = policy, .dots = {}, .style = plot::Series::Style::kPoints};
    for (const Point& point : results.points()) {
      if (point.Text("policy") != policy) continue;
      const auto number =
          std::find(std::begin(kCases), std::end(kCases), point.Text("case")) - std::begin(kCases);
      const Estimate share = results.Mean(point, kShare);
      const std::string name =
          StrCat(policy, ", ", point.Text("case"), ", ", point.Text("service_ms"), " ms");
      if (policy == "probe_pool") {
        judgement->AtMost(StrCat("share, ", name), "", share, kShareMax[number], "x fair").Shape();
      } else {
        judgement->Shown(StrCat("share, ", name), "", share, "x fair");
      }
      judgement->Shown(StrCat("calls lost, ", name), "", results.Mean(point, "loss_percent"), "%");
      if (point.Number("service_ms") == 5) {
        series.dots.push_back(
            {static_cast<double>(number + 1), share.middle, share.low, share.high});
      }
    }
    if (!series.dots.empty()) figure.series.push_back(std::move(series));
  }
  figure.levels.push_back({"fair", 1});
  judgement->AddPlot(std::move(figure));
}

}  // namespace

Experiment LbSink() {
  Experiment experiment;
  experiment.name = "lb_sink";
  experiment.title = "Faulty servers that attract calls";
  experiment.source = "bounds of this system";
  experiment.setup =
      "16 servers at 80 % utilization, 6 clients, calls with a deadline of 1 s. At 5 s one "
      "server starts to fail every request after 2 % of its service time, or hangs while it "
      "continues to announce itself and to answer polls, or joins. The figure is its share of "
      "the calls that begin after 6 s.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
