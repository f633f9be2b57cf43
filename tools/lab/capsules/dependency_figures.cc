#include "tools/lab/capsules/dependency_figures.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr char kBounded[] = "BTP";
constexpr char kUnbounded[] = "UTP";

std::string OfSecond(const std::string& metric, int second) {
  return StrCat(metric, "_", second, "s");
}

}  // namespace

Measurement MeasureWindows(const DependencyResult& result,
                           const std::vector<DependencyWindow>& windows) {
  Measurement measurement;
  for (const auto& [name, begin_s, end_s] : windows) {
    measurement["response_ms_" + name] = result.MeanMs(begin_s, end_s);
    measurement["answered_per_s_" + name] = result.AnsweredPerSecond(begin_s, end_s);
    measurement["quality_per_s_" + name] = result.QualityPerSecond(begin_s, end_s);
    measurement["loss_percent_" + name] = result.LossPercent(begin_s, end_s);
    measurement["quality_loss_percent_" + name] = result.QualityLossPercent(begin_s, end_s);
  }
  for (int second = 1; second <= kDependencyRunS; ++second) {
    measurement[OfSecond("quality_per_s", second)] = result.QualityPerSecond(second - 1, second);
    measurement[OfSecond("response_ms", second)] = result.MeanMs(second - 1, second);
  }
  return measurement;
}

Point DependencyPoint(const std::string& scheme, int pool) {
  return Point{{"scheme", scheme}}.Set("pool", pool);
}

namespace {

Point Unswept(const std::string& scheme) {
  return DependencyPoint(
      scheme, scheme == kUnbounded ? static_cast<int>(kDependencyUnbounded) : kDependencyMainPool);
}

}  // namespace

std::vector<Point> DependencyPoints(Length length, const std::vector<std::string>& others) {
  std::vector<Point> points;
  for (const int pool : kDependencyPools) {
    if (length == Length::kSmoke && pool != kDependencySmallPool) continue;
    points.push_back(DependencyPoint(kBounded, pool));
  }
  for (const std::string& scheme : others) points.push_back(Unswept(scheme));
  return points;
}

DependencyScheme SchemeOf(const Point& point, const std::string& fields) {
  const std::string& name = point.Text("scheme");
  if (name == kBounded) {
    return {.isolation = Isolation::kBoundedPool, .pool = static_cast<int>(point.Number("pool"))};
  }
  if (name == kUnbounded) return {.isolation = Isolation::kUnboundedPool};
  CHECK(name.starts_with("DC")) << name;
  return {.isolation = Isolation::kCapsules, .capsule_fields = fields};
}

Point BestPool(const Results& results, const std::string& loss_metric) {
  std::optional<Point> best;
  for (const Point& point : results.points()) {
    if (point.Text("scheme") != kBounded) continue;
    if (!best ||
        results.Mean(point, loss_metric).middle < results.Mean(*best, loss_metric).middle) {
      best = point;
    }
  }
  return *best;
}

std::vector<Point> ShownPoints(const Results& results, const std::string& loss_metric,
                               const std::vector<std::string>& others) {
  std::vector<Point> points = {DependencyPoint(kBounded, kDependencySmallPool)};
  const Point best = BestPool(results, loss_metric);
  if (best != points[0]) points.push_back(best);
  for (const std::string& scheme : others) points.push_back(Unswept(scheme));
  return points;
}

std::string DependencyName(const Point& point) {
  const std::string& name = point.Text("scheme");
  return name == kBounded ? StrCat(name, ", ", point.Text("pool"), " threads") : name;
}

namespace {

PaperFigures FiguresOf(const Point& point, const std::vector<PaperFigures>& paper) {
  const std::string& scheme = point.Text("scheme");
  const bool printed = scheme != kBounded || point.Number("pool") == kDependencySmallPool;
  const auto found = std::find_if(paper.begin(), paper.end(),
                                  [&](const PaperFigures& one) { return one.scheme == scheme; });
  return printed && found != paper.end() ? *found : PaperFigures{};
}

}  // namespace

void ShowWindow(const Results& results, const std::vector<Point>& points, const WindowTable& table,
                Judgement* judgement) {
  const DependencyWindow& window = table.window;
  const std::string when = StrCat(", ", window.begin_s, "-", window.end_s, " s");
  for (const Point& point : points) {
    judgement->Shown(StrCat(table.set_up, DependencyName(point), ": lost", when),
                     FiguresOf(point, table.paper).loss,
                     results.Mean(point, StrCat(table.loss, "_", window.name)), "%");
  }
  for (const Point& point : points) {
    judgement->Shown(StrCat(table.set_up, DependencyName(point), ": response", when),
                     FiguresOf(point, table.paper).response,
                     results.Mean(point, "response_ms_" + window.name), "ms");
  }
}

plot::Plot DrawOverTime(const Results& results, const std::vector<Point>& points,
                        const DependencyFigure& figure) {
  plot::Plot drawn{.name = figure.name,
                   .title = figure.title,
                   .x = {.label = "seconds", .low = 0, .high = kDependencyRunS},
                   .y = {.label = figure.y_label, .low = 0},
                   .series = {},
                   .marks = figure.marks};
  for (const Point& point : points) {
    plot::Series series{.name = DependencyName(point), .dots = {}};
    for (int second = 1; second <= kDependencyRunS; ++second) {
      const Estimate value = results.Mean(point, OfSecond(figure.metric, second));
      series.dots.push_back({static_cast<double>(second), value.middle, value.low, value.high});
    }
    drawn.series.push_back(std::move(series));
  }
  return drawn;
}

}  // namespace search::lab
