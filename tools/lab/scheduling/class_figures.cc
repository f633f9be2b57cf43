#include "tools/lab/scheduling/class_figures.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::StrCat;

std::vector<double> DemandsOf(Length length) {
  if (length == Length::kSmoke) return {0.9, 2};
  if (length == Length::kQuick) return {0.75, 0.9, 1, 1.25, 2};
  return {0.25, 0.5, 0.6, 0.75, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2};
}

}  // namespace

Point ClassPoint(const ClassSetting& setting, const std::string& policy, double demand) {
  return Point{{"workload", setting.workload}, {"form", setting.form}, {"policy", policy}}.Set(
      "demand", demand);
}

std::vector<Point> ClassPoints(Length length, const std::vector<std::string>& policies) {
  std::vector<Point> points;
  for (const ClassSetting& setting : kClassSettings) {
    if (length == Length::kSmoke && &setting != std::end(kClassSettings) - 1) continue;
    for (const double demand : DemandsOf(length)) {
      for (const std::string& policy : policies) {
        points.push_back(ClassPoint(setting, policy, demand));
      }
    }
  }
  return points;
}

ClassRun ClassRunOf(const Point& point, const RunContext& context) {
  ClassRun run;
  run.workload = point.Text("workload");
  run.form = point.Text("form");
  run.policy = point.Text("policy");
  run.demand = point.Number("demand");
  run.length = std::chrono::seconds(context.Pick(100, 200, 1'500));
  return run;
}

std::string WhereOf(const Point& point) {
  return StrCat(point.Text("workload"), ", ", point.Text("form"), ", ",
                100 * point.Number("demand"), " %");
}

Estimate LossOf(const Results& results, const Point& point) {
  return results.Mean(point, kLossPercent);
}

Estimate LessLossPercent(const Results& results, const Point& one, const Point& other) {
  return Scaled(results.MeanRatio(one, other, kLossPercent), -100, 100);
}

void DrawLoss(const Results& results, const ClassSetting& setting,
              const std::vector<std::string>& policies, Judgement* judgement) {
  plot::Plot figure{.name = StrCat("loss_", setting.workload, "_", setting.form),
                    .title = StrCat(setting.workload, ", ", setting.form, " yields"),
                    .x = {.label = "demand, %"},
                    .y = {.label = "LossPercent", .low = 0}};
  std::replace(figure.name.begin(), figure.name.end(), ' ', '_');
  for (const std::string& policy : policies) {
    plot::Series series{.name = policy, .dots = {}};
    for (const Point& point : results.points()) {
      const double demand = point.Number("demand");
      if (point != ClassPoint(setting, policy, demand)) continue;
      const Estimate loss = LossOf(results, point);
      series.dots.push_back({100 * demand, loss.middle, loss.low, loss.high});
    }
    if (!series.dots.empty()) figure.series.push_back(std::move(series));
  }
  if (!figure.series.empty()) judgement->AddPlot(std::move(figure));
}

}  // namespace search::lab
