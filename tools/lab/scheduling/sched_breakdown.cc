// What each class receives at 200 % demand, by policy.

#include <algorithm>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/scheduling/class_figures.h"

namespace search::lab {
namespace {

using neptune::StrCat;

const std::vector<std::string> kPolicies = {"edf", "yid", "greedy", "adaptive", "waiting_cost"};
const ClassSetting kSetting = {"Differentiated Search", "hybrid"};
constexpr double kDemand = 2;

Point PointOf(const std::string& policy) { return ClassPoint(kSetting, policy, kDemand); }

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  return MeasureClasses(ClassRunOf(point, context), context.seed);
}

std::string FourOf(const Results& results, const std::string& metric) {
  std::string text;
  for (const char* policy : {"edf", "yid", "greedy", "adaptive"}) {
    if (!text.empty()) text += ", ";
    text += NumberText(results.Mean(PointOf(policy), metric).middle);
  }
  return text;
}

// Whether greedy and adaptive both have more (or less) of it than the other two.
bool IsApart(const Results& results, const std::string& metric, bool more) {
  const auto mean = [&](const char* policy) {
    return (more ? 1 : -1) * results.Mean(PointOf(policy), metric).middle;
  };
  return std::min(mean("greedy"), mean("adaptive")) > std::max(mean("edf"), mean("yid"));
}

void Judge(const Results& results, Judgement* judgement) {
  const auto order = [&](const std::string& what, const std::string& metric, bool more,
                         const std::string& unit) -> Row& {
    return judgement->Holds(
        StrCat(what, ": edf, yid, greedy, adaptive"),
        more ? "greedy and adaptive more" : "greedy and adaptive less",
        StrCat(FourOf(results, metric), " ", unit),
        more ? "the latter two above the others" : "the latter two below the others",
        IsApart(results, metric, more));
  };
  order("Gold and Silver completed", "high_completed_percent", true, "%").Shape();
  order("mean response time of completed requests", "response_ms", false, "ms").Shape();
  for (const std::string& policy : kPolicies) {
    const Point point = PointOf(policy);
    for (const char* name : kClassNames) {
      judgement->Shown(StrCat(name, " completed in time, ", policy), "",
                       results.Mean(point, StrCat(name, "_completed_percent")), "%");
      judgement->Shown(StrCat(name, " response, ", policy), "",
                       results.Mean(point, StrCat(name, "_response_ms")), "ms");
    }
    judgement->Shown(StrCat("all classes completed in time, ", policy), "similar for the four",
                     results.Mean(point, "completed_percent"), "%");
    judgement->Shown(StrCat("loss, ", policy), "", LossOf(results, point), "%");
  }
}

}  // namespace

Experiment SchedBreakdown() {
  Experiment experiment;
  experiment.name = "sched_breakdown";
  experiment.title = "Service classes at twice the capacity";
  experiment.source = "[Shen02] 4.5.2, figure 4.10";
  experiment.setup =
      "Differentiated Search with hybrid yields on one server at 200 % demand, as in "
      "sched_policies. Completed requests are those answered within 2 s; their response time is "
      "measured by the caller.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 10};
  experiment.points = [](Length) {
    std::vector<Point> points;
    for (const std::string& policy : kPolicies) points.push_back(PointOf(policy));
    return points;
  };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
