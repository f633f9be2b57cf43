// The gain of discarding slow polls.

#include "neptune/base/strings.h"
#include "tools/lab/balancing/balancing_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

struct Case {
  const char* workload;
  const char* paper;
  double gain_min;  // per cent
};
constexpr Case kCases[] = {
    {"Fine-Grain", "8.3 % (51.6 to 47.3 ms)", 5},
    {"Poisson/Exp", "3.2 % (81.8 to 79.2 ms)", -1},
    {"Medium-Grain", "-0.4 % (282.1 to 283.1 ms)", -1},
};
constexpr char kMean[] = "response_ms_mean";

Point PointOf(const std::string& workload, double discard_ms) {
  return Point{{"workload", workload}}.Set("discard_after_ms", discard_ms);
}
constexpr double kNever = 60'000;

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const Case& one : kCases) {
    points.push_back(PointOf(one.workload, 10));
    points.push_back(PointOf(one.workload, kNever));
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  BalancingRun run;
  NEPTUNE_ASSIGN_OR_RETURN(run.workload, workload::FindWorkload(point.Text("workload")));
  run.policy = "poll 3";
  run.cluster.slow_datagrams = true;
  run.cluster.poll_discard_ms = static_cast<uint32_t>(point.Number("discard_after_ms"));
  run.warm_up_count = context.Pick<uint64_t>(500, 5'000, 10'000);
  run.count = context.Pick<uint64_t>(5'000, 50'000, 300'000);
  return MeasureBalancing(run, context.seed);
}

void Judge(const Results& results, Judgement* judgement) {
  plot::Plot figure{.name = "discard",
                    .title = "Improvement by discarding polls after 10 ms",
                    .x = {.label = "mean service time, ms", .logarithmic = true},
                    .y = {.label = "improvement of the mean response time, %"},
                    .series = {{.name = "ours", .dots = {}}, {.name = "paper", .dots = {}}},
                    .levels = {{"no gain", 0}}};
  for (const Case& one : kCases) {
    const Estimate ratio =
        results.MeanRatio(PointOf(one.workload, 10), PointOf(one.workload, kNever), kMean);
    const Estimate gain = Scaled(ratio, -100, 100);
    judgement->AtLeast(StrCat("gain, ", one.workload), one.paper, gain, one.gain_min, "%");
    judgement->Shown(StrCat("mean response time with discarding, ", one.workload), "",
                     results.Mean(PointOf(one.workload, 10), kMean), "ms");
    const double service = workload::FindWorkload(one.workload)->service_mean();
    figure.series[0].dots.push_back({service, gain.middle, gain.low, gain.high});
    figure.series[1].dots.push_back({service, std::stod(one.paper)});
  }
  const Estimate fine =
      results.MeanRatio(PointOf("Fine-Grain", 10), PointOf("Fine-Grain", kNever), kMean);
  judgement
      ->AtMost("fine-grained services gain: response time relative to no discarding", "yes", fine,
               1, "x")
      .Shape();
  judgement->AddPlot(std::move(figure));
}

}  // namespace

Experiment LbDiscard() {
  Experiment experiment;
  experiment.name = "lb_discard";
  experiment.title = "Discarding slow-responding polls";
  experiment.source = "[Shen02] 3.4.2, table 3.2";
  experiment.setup =
      "16 servers at 90 % utilization, 6 clients, poll size 3, slow polls with the paper's "
      "profile. Polls are either discarded after 10 ms or never. The paper's servers were real "
      "machines, so its means contain more than queueing; therefore the relative improvement is "
      "compared.";
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
