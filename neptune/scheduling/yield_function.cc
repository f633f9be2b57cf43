#include "neptune/scheduling/yield_function.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr Duration kDefaultDeadline = std::chrono::seconds(2);

Status Check(const std::vector<YieldPoint>& points) {
  if (points.empty()) return InvalidArgument("a yield function has no points");
  if (points.size() > kYieldPointCountMax) {
    return InvalidArgument(points.size(), " points in a yield function, limit ",
                           kYieldPointCountMax);
  }
  for (size_t i = 0; i < points.size(); ++i) {
    const YieldPoint& point = points[i];
    if (point.response < Duration(0)) {
      return InvalidArgument("a yield point has the negative time ", ToMillis(point.response),
                             " ms");
    }
    if (!std::isfinite(point.yield) || point.yield < 0) {
      return InvalidArgument("a yield is ", point.yield,
                             ", expected a finite number of at least 0");
    }
    if (i == 0) continue;
    if (point.response < points[i - 1].response) {
      return InvalidArgument(
          "the points of a yield function are not in order of time: ", ToMillis(point.response),
          " ms follows ", ToMillis(points[i - 1].response), " ms");
    }
    if (point.yield > points[i - 1].yield) {
      return InvalidArgument("a yield increases with the response time, from ", points[i - 1].yield,
                             " to ", point.yield);
    }
  }
  if (points.back().response == Duration(0)) return InvalidArgument("the deadline is 0");
  if (points.front().yield == 0) return InvalidArgument("the full yield is 0");
  return OkStatus();
}

}  // namespace

YieldFunction::YieldFunction() : points_{{kDefaultDeadline, 1}} {}

StatusOr<YieldFunction> YieldFunction::Throughput(double full, Duration deadline) {
  return Table({{deadline, full}});
}

StatusOr<YieldFunction> YieldFunction::ResponseTime(double full, Duration deadline) {
  return Table({{Duration(0), full}, {deadline, 0}});
}

StatusOr<YieldFunction> YieldFunction::Hybrid(double full, Duration full_until, double at_deadline,
                                              Duration deadline) {
  return Table({{full_until, full}, {deadline, at_deadline}});
}

StatusOr<YieldFunction> YieldFunction::Table(std::vector<YieldPoint> points) {
  NEPTUNE_RETURN_IF_ERROR(Check(points));
  return YieldFunction(std::move(points));
}

double YieldFunction::At(Duration response) const {
  if (response > deadline()) return 0;
  // The first point that is not earlier: of a step the upper one, at its time.
  const auto next = std::lower_bound(
      points_.begin(), points_.end(), response,
      [](const YieldPoint& point, Duration time) { return point.response < time; });
  if (next == points_.begin() || next->response == response) return next->yield;
  const YieldPoint& before = *std::prev(next);
  const double share = static_cast<double>((response - before.response).count()) /
                       static_cast<double>((next->response - before.response).count());
  return before.yield + share * (next->yield - before.yield);
}

Duration YieldFunction::full_until() const {
  const auto less = std::find_if(points_.begin(), points_.end(),
                                 [&](const YieldPoint& point) { return point.yield < full(); });
  return std::prev(less)->response;
}

// The yield never increases, so binary search finds the last such nanosecond, with exactly the
// rounding of At.
std::optional<Duration> YieldFunction::LatestOver(double yield) const {
  if (!(At(Duration(0)) > yield)) return std::nullopt;
  Duration over{0};
  Duration not_over = deadline() + Duration(1);
  while (not_over - over > Duration(1)) {
    const Duration middle = over + (not_over - over) / 2;
    (At(middle) > yield ? over : not_over) = middle;
  }
  return over;
}

}  // namespace neptune
