// The runtime's policy by the cost of waiting, compared with the paper's adaptive policy.

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/scheduling/class_figures.h"

namespace search::lab {
namespace {

using neptune::StrCat;

const std::vector<std::string> kPolicies = {"adaptive", "waiting_cost"};
constexpr double kFrom = 0.8;
constexpr double kUntil = 1.5;
// "Never worse" in points of LossPercent: a tenth of what adaptive itself may lose to the better of
// its two policies (sched_policies).
constexpr double kNotWorseMargin = 0.1;

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  return MeasureClasses(ClassRunOf(point, context), context.seed);
}

// The loss of our policy minus that of adaptive, in points.
Estimate MoreLoss(const Results& results, const Point& ours) {
  std::vector<double> more = results.Values(ours, kLossPercent);
  const std::vector<double> adaptive =
      results.Values(ours.With("policy", "adaptive"), kLossPercent);
  for (size_t i = 0; i < more.size(); ++i) more[i] -= adaptive[i];
  return results.MeanOfRuns(more);
}

void Judge(const Results& results, Judgement* judgement) {
  const Point* worst = nullptr;
  const Point* best = nullptr;
  const Results chosen = results.AmongBest(static_cast<int>(results.points().size() / 2));
  const auto gain_of = [&](const Point& point) {
    return LessLossPercent(chosen, point, point.With("policy", "adaptive"));
  };
  for (const Point& point : results.points()) {
    if (point.Text("policy") != "waiting_cost") continue;
    if (worst == nullptr || MoreLoss(results, point).middle > MoreLoss(results, *worst).middle) {
      worst = &point;
    }
    const double demand = point.Number("demand");
    if (demand < kFrom || demand > kUntil || LossOf(results, point).middle < 0.1) continue;
    if (best == nullptr || gain_of(point).middle > gain_of(*best).middle) best = &point;
  }
  judgement->NotAbove(StrCat("loses more than adaptive, at most: ", WhereOf(*worst)), "",
                      MoreLoss(results, *worst), 0, kNotWorseMargin, "points");
  if (best != nullptr) {
    judgement
        ->AtLeast(StrCat("loses less than adaptive at 80 to 150 %, ", WhereOf(*best)), "",
                  gain_of(*best), 10, "%")
        .Shape();
  }
  for (const ClassSetting& setting : kClassSettings) {
    for (const Point& point : results.points()) {
      const double demand = point.Number("demand");
      if (point != ClassPoint(setting, "waiting_cost", demand)) continue;
      judgement->Shown(StrCat("loss minus that of adaptive, ", WhereOf(point)), "",
                       MoreLoss(results, point), "points");
    }
    DrawLoss(results, setting, kPolicies, judgement);
  }
}

}  // namespace

Experiment SchedBeyond() {
  Experiment experiment;
  experiment.name = "sched_beyond";
  experiment.title = "A scheduling policy by the cost of waiting";
  experiment.source = "bounds of this system";
  experiment.setup =
      "The set-up of sched_policies; waiting_cost (neptune/scheduling/class_scheduler.h) is "
      "compared with adaptive, with the same requests at the same times.";
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 8};
  experiment.points = [](Length length) { return ClassPoints(length, kPolicies); };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
