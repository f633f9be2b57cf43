#include "tools/lab/replication/replica_growth.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"

namespace search::lab {

using neptune::StrCat;

namespace {

constexpr char kNodes[] = "nodes";
constexpr char kDegree[] = "degree";

std::vector<int> NodeCounts(Length length) {
  if (length == Length::kSmoke) return {2, 4};
  if (length == Length::kQuick) return {2, 4, 8};
  return {2, 4, 8, 16};
}

std::vector<int> Degrees(Length length) {
  if (length == Length::kSmoke) return {2};
  if (length == Length::kQuick) return {1, 2, 4};
  return {1, 2, 3, 4};
}

}  // namespace

Point GrowthPoint(int nodes, int degree) { return Point{}.Set(kNodes, nodes).Set(kDegree, degree); }

std::vector<Point> GrowthPoints(Length length) {
  std::vector<Point> points;
  for (const int nodes : NodeCounts(length)) {
    for (const int degree : Degrees(length)) {
      if (degree <= nodes) points.push_back(GrowthPoint(nodes, degree));
    }
  }
  return points;
}

int NodesOf(const Point& point) { return static_cast<int>(point.Number(kNodes)); }
int DegreeOf(const Point& point) { return static_cast<int>(point.Number(kDegree)); }

neptune::Duration GrowthDuration(const Point& point, const RunContext& context) {
  return std::chrono::seconds(context.Pick(2, 4, 10) * std::max(1, 8 / NodesOf(point)));
}

double HighestGrowthRate(const RunAtRate& run, double ideal, const RunContext& context) {
  return HighestReplicaRate(
      run, {.low = 0.9 * ideal, .high = 1.06 * ideal, .steps = context.Pick(2, 3, 4)});
}

void JudgeGrowth(const Results& results, const std::string& figure, const std::string& paper_cost,
                 Judgement* judgement) {
  const int most = NodeCounts(results.length()).back();
  for (const int degree : Degrees(results.length())) {
    const int least = degree <= 2 ? 2 : 4;
    const Estimate ratio =
        results.MeanRatio(GrowthPoint(most, degree), GrowthPoint(least, degree), kGrowthRate);
    const double factor = static_cast<double>(least) / most;
    judgement
        ->AtLeast(StrCat("relative to linear, ", most, " nodes over ", least, ": degree ", degree),
                  figure, Scaled(ratio, factor), 0.9, "x")
        .Shape();
  }
  if (!results.Has(GrowthPoint(most, 1))) return;
  judgement->Shown(StrCat("no replication relative to degree 4: ", most, " nodes"), paper_cost,
                   results.MeanRatio(GrowthPoint(most, 1), GrowthPoint(most, 4), kGrowthRate), "x");
}

plot::Plot GrowthFigure(const Results& results, const std::string& name, const std::string& title) {
  plot::Plot figure{.name = name,
                    .title = title,
                    .x = {.label = "nodes"},
                    .y = {.label = "requests per second", .low = 0}};
  for (const int degree : Degrees(results.length())) {
    plot::Series series{.name = degree == 1 ? "none" : StrCat("degree ", degree), .dots = {}};
    for (const int nodes : NodeCounts(results.length())) {
      if (degree > nodes) continue;
      const Estimate rate = results.Mean(GrowthPoint(nodes, degree), kGrowthRate);
      series.dots.push_back({static_cast<double>(nodes), rate.middle, rate.low, rate.high});
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace search::lab
