// Overload of partitions that every request needs: should each partition reject load by itself, or
// the caller for all?

#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/capsules/dependency_figures.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

const DependencyWindow kWhole = {"whole", 0, kDependencyRunS};
using neptune::StrCat;

constexpr char kServerSide[] = "DC";
constexpr char kServerSideStopped[] = "DC, stopped elsewhere";
constexpr char kCallerSide[] = "DC+LT";
constexpr char kAnswered[] = "answered_per_s_whole";

Point PointOf(const std::string& scheme) { return DependencyPoint(scheme, kDependencyMainPool); }

std::vector<Point> Points(Length) {
  return {PointOf(kServerSide), PointOf(kServerSideStopped), PointOf(kCallerSide)};
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const std::string& scheme = point.Text("scheme");
  DependencyOptions options;
  options.seed = context.seed;
  options.service =
      RetService({.partition_ms = RetPartitionMs(kRetThrottleRate, kRetThrottleLoadShare),
                  .all_required = true,
                  .uncancelled = scheme == kServerSide});
  options.scheme = SchemeOf(point, scheme == kCallerSide ? kRetThrottle : "");
  options.rate_per_s = kRetThrottleRate;
  NEPTUNE_ASSIGN_OR_RETURN(const DependencyResult result, RunDependency(options));
  return MeasureWindows(result, {kWhole});
}

// The capacity of the partitions is 40 a second. With limits from 24 to 42 the caller reaches 36.6
// to 37.2, with shorter timeouts (1 s, 1.3 s) or watermarks (16 to 64) 36 to 36.7; with independent
// costs of the partitions, servers reach 26.7.
constexpr char kWhyServersWasteLess[] =
    "server-side control answers 28 requests per second of the 40 that the partitions have the "
    "capacity for, so 1.4 times as many would be 39.5; caller-side throttling, which answers 37 "
    "whichever requests it rejects, cannot gain more. The paper's servers wasted more";

void Judge(const Results& results, Judgement* judgement) {
  const Estimate ratio = results.MeanRatio(PointOf(kCallerSide), PointOf(kServerSide), kAnswered);
  judgement->AtLeast("DC+LT: full answers relative to server-side control", "1.40", ratio, 1.4, "x")
      .ShortOfLine(kWhyServersWasteLess);
  judgement
      ->AtLeast("DC+LT: full answers relative to server-side control, any gain", "yes", ratio, 1,
                "x")
      .Shape();
  judgement->Shown(
      "DC+LT: the same, if a rejection cancels the request at the other partitions", "",
      results.MeanRatio(PointOf(kCallerSide), PointOf(kServerSideStopped), kAnswered), "x");
  for (const Point& point : results.points()) {
    judgement->Shown(DependencyName(point) + ": full answers per second", "",
                     results.Mean(point, kAnswered));
  }
  ShowWindow(results, results.points(), {.window = kWhole}, judgement);
  judgement->AddPlot(DrawOverTime(results, results.points(),
                                  {.name = "throttle",
                                   .title = "Caller-side throttling (figure 10)",
                                   .y_label = "full answers per second",
                                   .metric = "quality_per_s",
                                   .marks = {}}));
}

}  // namespace

Experiment CapThrottle() {
  Experiment experiment;
  experiment.name = "cap_throttle";
  experiment.title = "Load shedding by the caller";
  experiment.source = "[Chu05] VI.E, figure 10";
  experiment.setup =
      "RET with 50 requests per second, 125 % of the capacity of its three partitions, all of "
      "which every request needs. DC: each partition rejects the requests that its queue of 40 "
      "cannot hold, and continues with requests that another partition has rejected, as in the "
      "paper. In the second variant the runtime cancels such requests, as it does by default. "
      "DC+LT: the caller rejects a request before it reaches any partition if more than 24 "
      "requests wait for one of them.";
  experiment.seeds = {.smoke = 1, .quick = 10, .full = 30};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
