// The paper's policies for three classes on one server, by demand.

#include <algorithm>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/scheduling/class_figures.h"

namespace search::lab {
namespace {

using neptune::StrCat;

const std::vector<std::string> kPolicies = {"edf", "yid", "greedy", "adaptive"};
// Points with less loss are not significant.
constexpr double kLossPercentMin = 1;
// The allowed difference of adaptive to the better of its two policies, in points of LossPercent.
constexpr double kAdaptiveGapMax = 1;

std::vector<Point> Points(Length length) { return ClassPoints(length, kPolicies); }

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  return MeasureClasses(ClassRunOf(point, context), context.seed);
}

// The point where one policy gains most over another.
struct Gain {
  Estimate percent{.middle = -100};
  std::string where = "nowhere";
};

Gain LargestGain(const Results& results, const std::string& better, const std::string& worse,
                 bool overloaded) {
  Gain largest;
  const Results chosen =
      results.AmongBest(static_cast<int>(results.points().size() / kPolicies.size()));
  for (const Point& point : results.points()) {
    const double demand = point.Number("demand");
    if (point.Text("policy") != better || (overloaded ? demand < 1 : demand > 1)) continue;
    const Point other = point.With("policy", worse);
    if (std::min(LossOf(results, point).middle, LossOf(results, other).middle) < kLossPercentMin) {
      continue;
    }
    const Estimate gain = LessLossPercent(chosen, point, other);
    if (gain.middle > largest.percent.middle) largest = {gain, WhereOf(point)};
  }
  return largest;
}

// The largest excess loss of adaptive over the better of its two policies, in points.
Gain LargestGap(const Results& results) {
  Gain largest;
  for (const Point& point : results.points()) {
    if (point.Text("policy") != "adaptive") continue;
    std::vector<double> gaps = results.Values(point, kLossPercent);
    const std::vector<double> yid = results.Values(point.With("policy", "yid"), kLossPercent);
    const std::vector<double> greedy = results.Values(point.With("policy", "greedy"), kLossPercent);
    const bool yid_is_better = results.MeanOfRuns(yid).middle < results.MeanOfRuns(greedy).middle;
    for (size_t i = 0; i < gaps.size(); ++i) gaps[i] -= yid_is_better ? yid[i] : greedy[i];
    const Estimate gap = results.MeanOfRuns(gaps);
    if (gap.middle > largest.percent.middle) largest = {gap, WhereOf(point)};
  }
  return largest;
}

void Judge(const Results& results, Judgement* judgement) {
  const Gain yid = LargestGain(results, "yid", "greedy", false);
  judgement->AtLeast(StrCat("loses less than greedy below the capacity: yid, ", yid.where),
                     "up to 49 %", yid.percent, 15, "%");
  const Gain greedy = LargestGain(results, "greedy", "yid", true);
  judgement->AtLeast(StrCat("loses less than yid under overload: greedy, ", greedy.where),
                     "up to 39 %", greedy.percent, 39, "%");
  const Gain gap = LargestGap(results);
  judgement
      ->NotAbove(StrCat("adaptive loses more than the better of the two, at most: ", gap.where), "",
                 gap.percent, 0, kAdaptiveGapMax, "points")
      .ShortOfLine(
          "from 90 % demand on greedy is the better policy here, and adaptive is greedy only in "
          "thirty-second periods in which 5 % of the requests were dropped")
      .Shape();
  for (const ClassSetting& setting : kClassSettings) {
    const Point full = ClassPoint(setting, "edf", 1);
    if (setting.form != std::string("hybrid") || !results.Has(full)) continue;
    judgement->Between(StrCat("completed in time under edf at 100 %, ", setting.workload), "95 %",
                       results.Mean(full, "completed_percent"), 94.5, 95.5, "%");
  }
  for (const ClassSetting& setting : kClassSettings) {
    for (const double demand : {0.75, 1.0, 1.25, 2.0}) {
      if (!results.Has(ClassPoint(setting, "edf", demand))) continue;
      for (const std::string& policy : kPolicies) {
        const Point point = ClassPoint(setting, policy, demand);
        judgement->Shown(StrCat("loss, ", policy, ", ", WhereOf(point)), "", LossOf(results, point),
                         "%");
      }
    }
    DrawLoss(results, setting, kPolicies, judgement);
  }
}

}  // namespace

Experiment SchedPolicies() {
  Experiment experiment;
  experiment.name = "sched_policies";
  experiment.title = "Scheduling policies by demand";
  experiment.source = "[Shen02] 4.5.2, figures 4.8 and 4.9";
  experiment.setup =
      "One server with two processors, three classes with 10, 30 and 60 % of the requests and "
      "full yields of 4, 2 and 1, no guarantees. Differentiated Search with the three forms of "
      "yield functions, Micro-benchmark (400, 200 and 100 ms) with hybrid yields, as in the "
      "figures. 100 % demand is the rate at which 95 % of the requests are answered within 2 s "
      "under edf. Loss is LossPercent: the share of the full yield of all requests that was not "
      "realized. The gain of a policy is searched among the points at which both policies lose "
      "at least 1 %.";
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
