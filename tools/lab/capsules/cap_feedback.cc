// The response time while a partition is unresponsive: the full timeout, or the usual time.

#include <vector>

#include "tools/lab/capsules/dependency_figures.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

constexpr char kScript[] = "10s pause partition-1; 20s resume partition-1";
const DependencyWindow kDuring = {"during", 10, 20};
const DependencyWindow kSettled = {"settled", 12.5, 20};
// The same requests without any failure.
constexpr char kHealthy[] = "DC, healthy";
const std::vector<std::string> kSchemes = {kHealthy, "DC", "DC+FB"};

Point PointOf(const std::string& scheme) { return DependencyPoint(scheme, kDependencyMainPool); }

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const std::string& scheme = point.Text("scheme");
  DependencyOptions options;
  options.seed = context.seed;
  options.service = RetService({.partition_ms = RetPartitionMs(kRetRate, kRetLoadShare)});
  options.scheme = SchemeOf(point, scheme == "DC+FB" ? kRetFeedback : "");
  options.rate_per_s = kRetRate;
  if (scheme != kHealthy) {
    NEPTUNE_ASSIGN_OR_RETURN(options.script, workload::ParseScript(kScript));
  }
  NEPTUNE_ASSIGN_OR_RETURN(const DependencyResult result, RunDependency(options));
  return MeasureWindows(result, {kDuring, kSettled});
}

void Judge(const Results& results, Judgement* judgement) {
  judgement
      ->AtMost("DC+FB: response time from 2.5 s after the onset, relative to no failure",
               "much shorter than DC",
               results.MeanRatio(PointOf("DC+FB"), PointOf(kHealthy), "response_ms_settled"), 1.3,
               "x")
      .Shape();
  judgement->Shown("DC: the same", "",
                   results.MeanRatio(PointOf("DC"), PointOf(kHealthy), "response_ms_settled"), "x");
  std::vector<Point> points;
  for (const std::string& scheme : kSchemes) points.push_back(PointOf(scheme));
  for (const DependencyWindow& window : {kSettled, kDuring}) {
    ShowWindow(results, points, {.window = window, .loss = "quality_loss_percent"}, judgement);
  }
  const std::vector<plot::Mark> marks = {{"unresponsive", 10}, {"back", 20}};
  judgement->AddPlot(DrawOverTime(results, points,
                                  {.name = "feedback_throughput",
                                   .title = "RET with and without feedback (figure 12)",
                                   .y_label = "throughput weighted by quality, per second",
                                   .metric = "quality_per_s",
                                   .marks = marks}));
  judgement->AddPlot(DrawOverTime(results, points,
                                  {.name = "feedback_response",
                                   .title = "RET with and without feedback (figure 13)",
                                   .y_label = "response time, ms",
                                   .metric = "response_ms",
                                   .marks = marks}));
}

}  // namespace

Experiment CapFeedback() {
  Experiment experiment;
  experiment.name = "cap_feedback";
  experiment.title = "Response times while a partition is bypassed";
  experiment.source = "[Chu05] VI.E, figures 12 and 13";
  experiment.setup =
      "The failure of cap_ret: 40 requests per second, one of three partitions suspended from 10 "
      "to 20 s. With capsules alone (DC) every request waits for it until its time limit; with "
      "feedback (DC+FB) the partition is bypassed once too many requests wait, except for one "
      "real request at a time that probes whether it has recovered. Response times are compared "
      "with those of the same requests without a failure.";
  experiment.seeds = {.smoke = 1, .quick = 10, .full = 30};
  experiment.points = [](Length) {
    std::vector<Point> points;
    for (const std::string& scheme : kSchemes) points.push_back(PointOf(scheme));
    return points;
  };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
