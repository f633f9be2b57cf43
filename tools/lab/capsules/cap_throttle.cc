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
    "server-side control answers 28 of the 40 a second that the partitions can do, so that 1.4 "
    "times as many would be 39.5; the caller, who answers 37 however it turns requests away, has "
    "no more to gain. The paper's servers wasted more";

void Judge(const Results& results, Judgement* judgement) {
  const Estimate ratio = results.MeanRatio(PointOf(kCallerSide), PointOf(kServerSide), kAnswered);
  judgement
      ->AtLeast("DC+LT: answered in full, of what server-side control lets through", "1.40", ratio,
                1.4, "x")
      .ShortOfLine(kWhyServersWasteLess);
  judgement
      ->Holds("DC+LT answers more in full than server-side control", "yes",
              StrCat(NumberText(ratio.middle), " x"), "> 1 x", ratio.middle > 1)
      .Shape();
  judgement->Shown("DC+LT: the same, where a refusal stops the request at the other partitions", "",
                   results.MeanRatio(PointOf(kCallerSide), PointOf(kServerSideStopped), kAnswered),
                   "x");
  for (const Point& point : results.points()) {
    judgement->Shown(DependencyName(point) + ": answered in full, a second", "",
                     results.Mean(point, kAnswered));
  }
  ShowWindow(results, results.points(), {.window = kWhole}, judgement);
  judgement->AddPlot(DrawOverTime(results, results.points(),
                                  {.name = "throttle",
                                   .title = "Caller-side throttling (figure 10)",
                                   .y_label = "answered in full, a second",
                                   .metric = "quality_per_s",
                                   .marks = {}}));
}

}  // namespace

Experiment CapThrottle() {
  Experiment experiment;
  experiment.name = "cap_throttle";
  experiment.title = "Load that is turned away by the caller";
  experiment.source = "[Chu05] VI.E, figure 10";
  experiment.setup =
      "RET with 50 requests a second, 125 % of what its three partitions can do, each of which "
      "every request needs. DC: each partition refuses what its queue of 40 cannot hold, and goes "
      "on with what another one has refused, as in the paper. In the second case the runtime stops "
      "such requests, as it does by default. DC+LT: the caller turns a request away before any "
      "partition is asked if more than 24 wait for one of them.";
  experiment.seeds = {.smoke = 1, .quick = 10, .full = 30};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
