// The value of serving a request as a function of its response time: any function that never
// increases and is never negative.
//
//   throughput             resptime               hybrid                 table
//   C ┬────────┐           C ┬╲                   C ┬────╲               C ┬──╮
//     │        │             │  ╲                   │      ╲               │  ╰──╮
//     │        │             │    ╲              C' │        ┐             │     ╰───┐
//   0 └────────┴──► r      0 └──────┴──► r        0 └────┴───┴──► r      0 └──┴──┴───┴──► r
//              D                    D                    D'  D
//
// Throughput is hybrid with D' = D, resptime is hybrid with D' = 0 and C' = 0; a table is piecewise
// linear.
//
// Source: [Shen02] 4.2.1, (4.2.2) to (4.2.4).
// No I/O, no clock, no threads.
// Threads: immutable.
// Units: response times count from the request's arrival at the node; yield is in the operator's
//   own unit.
// Errors: kInvalidArgument values that are negative, infinite or NaN, a yield that increases with
//   the response time, no deadline, a full yield of 0, more than kYieldPointCountMax points.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

inline constexpr size_t kYieldPointCountMax = 64;

struct YieldPoint {
  Duration response{0};
  double yield = 0;
  friend bool operator==(const YieldPoint&, const YieldPoint&) = default;
};

class YieldFunction {
 public:
  // Yields 1 within 2 s, the papers' deadline.
  YieldFunction();

  // Yields `full` within `deadline`, 0 after it.
  static StatusOr<YieldFunction> Throughput(double full, Duration deadline);
  // Falls linearly from `full` at time 0 to 0 at `deadline`.
  static StatusOr<YieldFunction> ResponseTime(double full, Duration deadline);
  // Yields `full` until `full_until`, falls linearly to `at_deadline` at `deadline`, 0 after it.
  static StatusOr<YieldFunction> Hybrid(double full, Duration full_until, double at_deadline,
                                        Duration deadline);
  // The first point's yield up to its time, linear between points, and 0 after the last one, which
  // is the deadline. Points at the same time form a step: the first one applies up to that time,
  // the last one from there on.
  static StatusOr<YieldFunction> Table(std::vector<YieldPoint> points);

  double At(Duration response) const;
  // The largest possible yield.
  double full() const { return points_.front().yield; }
  // A request yields nothing after this time.
  Duration deadline() const { return points_.back().response; }
  // Latest response time with full yield.
  Duration full_until() const;
  // Latest response time with a larger yield than `yield`; nullopt if there is none.
  std::optional<Duration> LatestOver(double yield) const;

 private:
  explicit YieldFunction(std::vector<YieldPoint> points) : points_(std::move(points)) {}

  std::vector<YieldPoint> points_;  // at least one; response times ascend, yields descend
};

}  // namespace neptune
