// What serving a request is worth by how long it took: any function that never increases and is never negative.
//
//   throughput             resptime               hybrid                 table
//   C ┬────────┐           C ┬╲                   C ┬────╲               C ┬──╮
//     │        │             │  ╲                   │      ╲               │  ╰──╮
//     │        │             │    ╲              C' │        ┐             │     ╰───┐
//   0 └────────┴──► r      0 └──────┴──► r        0 └────┴───┴──► r      0 └──┴──┴───┴──► r
//              D                    D                    D'  D
//
// Throughput is hybrid with D' = D, resptime is hybrid with D' = 0 and C' = 0; a table is a line through its points.
//
// Source: [Shen02] 4.2.1, (4.2.2) to (4.2.4).
// No I/O, no clock, no threads.
// Threads: immutable.
// Units: response times from the request's arrival at the node; yield is the operator's own unit.
// Errors: kInvalidArgument numbers that are negative, infinite or no numbers, a yield that grows with the response time,
//   no deadline, a full yield of 0, more than kYieldPointCountMax points.

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
  // 1 within 2 s, the papers' deadline.
  YieldFunction();

  // `full` within `deadline`, 0 after it.
  static StatusOr<YieldFunction> Throughput(double full, Duration deadline);
  // From `full` at once down to 0 at `deadline`.
  static StatusOr<YieldFunction> ResponseTime(double full, Duration deadline);
  // `full` until `full_until`, then down to `at_deadline` at `deadline`, 0 after it.
  static StatusOr<YieldFunction> Hybrid(double full, Duration full_until, double at_deadline,
                                        Duration deadline);
  // The first point's yield until there, straight lines between points, 0 after the last one, which is the deadline.
  // Points at the same time are a step: the first of them counts until there, the last from there on.
  static StatusOr<YieldFunction> Table(std::vector<YieldPoint> points);

  double At(Duration response) const;
  // The most a request can yield.
  double full() const { return points_.front().yield; }
  // After it a request yields nothing.
  Duration deadline() const { return points_.back().response; }
  // Until when it yields all.
  Duration full_until() const;
  // The latest response time at which it yields more than that; absent if it never does.
  std::optional<Duration> LatestOver(double yield) const;

 private:
  explicit YieldFunction(std::vector<YieldPoint> points) : points_(std::move(points)) {}

  std::vector<YieldPoint> points_;  // at least one; responses ascend, yields descend
};

}  // namespace neptune
