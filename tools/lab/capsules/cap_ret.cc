// One of three partitions is unresponsive for ten seconds: the loss during and after the failure.

#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/capsules/dependency_figures.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr char kScript[] = "10s pause partition-1; 20s resume partition-1";
constexpr char kQualityLoss[] = "quality_loss_percent";
const DependencyWindow kBefore = {"before", 0, 10};
const DependencyWindow kDuring = {"during", 10, 20};
// Requests that arrive earlier wait for the partition until their timeout.
const DependencyWindow kSettled = {"settled", 12.5, 20};
const DependencyWindow kRecovery = {"recovery", 20, 30};
const DependencyWindow kFirst = {"first", 20, 22};
// The achievable quality without one of three partitions.
constexpr double kWithoutOnePercent = 200.0 / 3;

std::string FieldsOf(const Point& point) {
  return point.Text("scheme") == "DC+FB" ? kRetFeedback : "";
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  DependencyOptions options;
  options.seed = context.seed;
  options.service = RetService({.partition_ms = RetPartitionMs(kRetRate, kRetLoadShare)});
  options.scheme = SchemeOf(point, FieldsOf(point));
  options.rate_per_s = kRetRate;
  NEPTUNE_ASSIGN_OR_RETURN(options.script, workload::ParseScript(kScript));
  NEPTUNE_ASSIGN_OR_RETURN(const DependencyResult result, RunDependency(options));
  return MeasureWindows(result, {kBefore, kDuring, kSettled, kRecovery, kFirst});
}

void JudgeOurs(const Results& results, const std::string& scheme, double loss_line,
               Judgement* judgement) {
  const Point point = DependencyPoint(scheme, kDependencyMainPool);
  judgement
      ->AtMost(StrCat(scheme,
                      ": lost after the partition has recovered, 20-30 s, weighted by "
                      "quality"),
               "", results.Mean(point, "quality_loss_percent_recovery"), loss_line, "%")
      .Shape();
  judgement->Shown(StrCat(scheme, ": of these in the first two seconds"), "",
                   results.Mean(point, "quality_loss_percent_first"), "%");
  const Estimate lost = results.Mean(point, "quality_loss_percent_settled");
  judgement
      ->AtLeast(StrCat(scheme, ": answered from 2.5 s after the onset, weighted by quality"), "",
                {100 - lost.middle, 100 - lost.high, 100 - lost.low, lost.count},
                0.96 * kWithoutOnePercent, "%")
      .Shape();
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeOurs(results, "DC", 10, judgement);
  JudgeOurs(results, "DC+FB", 1, judgement);
  const auto shown = ShownPoints(results, "quality_loss_percent_during", {"UTP", "DC", "DC+FB"});
  ShowWindow(
      results, shown,
      {.window = kBefore,
       .loss = kQualityLoss,
       .paper = {{"BTP", "0 %", "281 ms"}, {"UTP", "0 %", "278 ms"}, {"DC", "0 %", "293 ms"}}},
      judgement);
  ShowWindow(results, shown,
             {.window = kDuring,
              .loss = kQualityLoss,
              .paper = {{"BTP", "96.8 %", "1939 ms"},
                        {"UTP", "58.5 %", "1452 ms"},
                        {"DC", "30.3 %", "1488 ms"}}},
             judgement);
  ShowWindow(results, shown, {.window = kRecovery, .loss = kQualityLoss}, judgement);
  judgement->Note(
      "The second row of the paper's table II is called recovery. Its throughput with capsules, "
      "27.9 of 40 per second, is that of two of three partitions, so it is shown beside the ten "
      "seconds of the failure.");
  judgement->Note(
      "Threads cost nothing in the simulated world: a pool that is large enough for all waiting "
      "requests is as good as an unbounded one. If the pools of the partitions are unbounded as "
      "well, all requests that waited share the partition's processors at the end.");
  judgement->AddPlot(DrawOverTime(results, shown,
                                  {.name = "ret",
                                   .title = "RET with one partition unresponsive (figure 7)",
                                   .y_label = "throughput weighted by quality, per second",
                                   .metric = "quality_per_s",
                                   .marks = {{"unresponsive", 10}, {"back", 20}}}));
}

}  // namespace

Experiment CapRet() {
  Experiment experiment;
  experiment.name = "cap_ret";
  experiment.title = "An unresponsive partition and its recovery";
  experiment.source = "[Chu05] VI.C, figure 7, table II";
  experiment.setup =
      "40 requests per second to a tier-1 server that searches its own documents and queries "
      "three partitions at 70 % utilization; costs are those measured for our index, scaled. The "
      "server waits 1.8 s for the partitions and answers with the results that it has. Partition "
      "1 is suspended from 10 to 20 s, and no node is informed. A request is lost if it is not "
      "answered within 2 s; an answered request counts by the share of partitions in its answer. "
      "Sizes of bounded pools (BTP) are swept, and the best one is shown beside a small one; "
      "unbounded pools (UTP) are used on every node. With capsules (DC) a request occupies one "
      "of the four places of the main pool only while it works. With feedback (DC+FB) the "
      "partition is bypassed once too many requests wait for it, except for one real request at "
      "a time that probes whether it has recovered.";
  experiment.seeds = {.smoke = 1, .quick = 10, .full = 30};
  experiment.points = [](Length length) {
    return DependencyPoints(length, {"UTP", "DC", "DC+FB"});
  };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
