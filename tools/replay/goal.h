// The goal of a service under load: "p99:200ms,coverage:0.99,gold.loss:0.001".
//
//   p50 p90 p95 p99 p99.9 mean max   latency from the intended time, at most, in ms or s
//   loss                             share of requests that were lost, at most
//   coverage, yield                  mean quality of answers, share of the offered yield, at least
//   CLASS.                           before any of them: of that service class only
//
// Threads: immutable once parsed.
// Errors: INVALID_ARGUMENT names the malformed part.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/replay/summary.h"

namespace search::tools {

struct GoalPart {
  std::string service_class;  // empty: all
  std::string figure;
  double bound = 0;  // milliseconds for latencies

  bool is_latency() const;
  // True if larger values of the figure are better.
  bool at_least() const { return figure == "coverage" || figure == "yield"; }
  std::string ToString() const;
};

struct GoalCheck {
  GoalPart part;
  double value = 0;
  bool met = false;
};

class Goal {
 public:
  static neptune::StatusOr<Goal> Parse(std::string_view text);

  // Returns one check for each part, in order. A class without requests fails every check.
  std::vector<GoalCheck> Check(const RunSummary& summary) const;

 private:
  std::vector<GoalPart> parts_;
};

bool AllMet(const std::vector<GoalCheck>& checks);
// "p99 187 ms of 200, coverage 0.9971 of 0.99".
std::string Describe(const std::vector<GoalCheck>& checks);

}  // namespace search::tools
