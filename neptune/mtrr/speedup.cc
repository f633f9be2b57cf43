#include "neptune/mtrr/speedup.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace neptune {
namespace {

Status Check(const std::vector<ThroughputPoint>& points) {
  for (const ThroughputPoint& point : points) {
    if (point.threads < 1 || point.threads > kThreadCountMax) {
      return InvalidArgument("throughput measured with ", point.threads, " threads, expected 1 to ",
                             kThreadCountMax);
    }
    if (!std::isfinite(point.throughput) || point.throughput <= 0) {
      return InvalidArgument("throughput is ", point.throughput, " with ", point.threads,
                             " threads, expected a positive number");
    }
  }
  if (points.empty() || points.front().threads != 1) {
    return InvalidArgument("throughput was not measured with one thread");
  }
  if (points.back().threads == 1) {
    return InvalidArgument("throughput was measured with one thread only");
  }
  return OkStatus();
}

// Removes points from the collapse on. Returns its number of threads, or 0.
int CutCollapsed(std::vector<ThroughputPoint>* points) {
  double best = 0;
  for (size_t i = 0; i < points->size(); ++i) {
    best = std::max(best, (*points)[i].throughput);
    const bool stays_low =
        std::all_of(points->begin() + static_cast<ptrdiff_t>(i), points->end(),
                    [&](const ThroughputPoint& p) { return p.throughput < kCollapseShare * best; });
    if (!stays_low) continue;
    const int collapse_point = (*points)[i].threads;
    points->resize(i);
    return collapse_point;
  }
  return 0;
}

// For a given saturation point, throughput is linear in (rate, rate * alpha): rate + rate * alpha *
// (min(m, m^t) - 1). Weighted by 1 / throughput^2, so that relative deviations count.
struct Line {
  double rate = 0;
  double gain = 0;  // rate * alpha
};

std::optional<Line> FitLine(const std::vector<ThroughputPoint>& points, int saturation_point) {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (const ThroughputPoint& point : points) {
    const double weight = 1 / (point.throughput * point.throughput);
    const double x = std::min(point.threads, saturation_point) - 1;
    w += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wy += weight * point.throughput;
    wxy += weight * x * point.throughput;
  }
  const double determinant = w * wxx - wx * wx;
  if (determinant <= 0) return Line{wy / w, 0};
  Line line{(wxx * wy - wx * wxy) / determinant, (w * wxy - wx * wy) / determinant};
  if (line.gain < 0) return Line{wy / w, 0};
  if (line.rate <= 0) return std::nullopt;
  if (line.gain > line.rate) {  // alpha is at most 1: throughput = rate * min(m, m^t)
    double xy = 0, xx = 0;
    for (const ThroughputPoint& point : points) {
      const double weight = 1 / (point.throughput * point.throughput);
      const double x = std::min(point.threads, saturation_point);
      xy += weight * x * point.throughput;
      xx += weight * x * x;
    }
    line.rate = line.gain = xy / xx;
  }
  return line;
}

}  // namespace

StatusOr<Speedup> Speedup::Make(double alpha, int saturation_point) {
  if (!(alpha >= 0 && alpha <= 1)) {
    return InvalidArgument("speedup rate is ", alpha, ", expected [0, 1]");
  }
  if (saturation_point < 1 || saturation_point > kThreadCountMax) {
    return InvalidArgument("saturation point is ", saturation_point, " threads, expected 1 to ",
                           kThreadCountMax);
  }
  return Speedup(alpha, saturation_point);
}

double Speedup::At(double threads) const {
  return alpha_ * (std::min(threads, static_cast<double>(saturation_point_)) - 1) + 1;
}

StatusOr<SpeedupFit> FitSpeedup(std::vector<ThroughputPoint> points) {
  std::sort(points.begin(), points.end(), [](const ThroughputPoint& a, const ThroughputPoint& b) {
    return a.threads < b.threads;
  });
  NEPTUNE_RETURN_IF_ERROR(Check(points));
  SpeedupFit best;
  best.collapse_point = CutCollapsed(&points);
  if (points.size() == 1) {  // the second number of threads collapsed already: no speedup
    best.service_rate = points.front().throughput;
    return best;
  }
  double least = -1;
  for (int saturation = 2; saturation <= points.back().threads; ++saturation) {
    const std::optional<Line> line = FitLine(points, saturation);
    if (!line) continue;
    NEPTUNE_ASSIGN_OR_RETURN(const Speedup speedup,
                             Speedup::Make(std::min(1.0, line->gain / line->rate), saturation));
    double squares = 0;
    double error_max = 0;
    for (const ThroughputPoint& point : points) {
      const double deviation = line->rate * speedup.At(point.threads) / point.throughput - 1;
      squares += deviation * deviation;
      error_max = std::max(error_max, std::abs(deviation));
    }
    if (least >= 0 && squares >= least) continue;
    least = squares;
    best.speedup = speedup;
    best.service_rate = line->rate;
    best.error_max = error_max;
  }
  if (least < 0) return InvalidArgument("no speedup fits: throughput grows faster than threads");
  return best;
}

int FewestThreads(const std::vector<ThroughputPoint>& points, double share) {
  double best = 0;
  for (const ThroughputPoint& point : points) best = std::max(best, point.throughput);
  int fewest = kThreadCountMax;
  for (const ThroughputPoint& point : points) {
    if (point.throughput >= share * best) fewest = std::min(fewest, point.threads);
  }
  return fewest;
}

}  // namespace neptune
