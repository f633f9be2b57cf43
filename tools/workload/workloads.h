// The papers' workloads by name.
//
// Source: [Shen02] table 3.1 (Fine-Grain, Medium-Grain), 3.1.1 (Poisson/Exp), table 4.2
//   (Differentiated Search), 4.5 (Micro-benchmark); [Chu03] 5.1 (MICRO); SERT slides (Index
//   matching, Ranking, Bimodal).
// Departs from source: the traces themselves are not published. Gamma distributions with the same
//   moments replace those of which mean and deviation are published.
// Threads: pure functions.
// Units: milliseconds.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/workload/distribution.h"

namespace search::workload {

// One class of requests.
struct RequestClass {
  std::string name;
  // Fraction of all requests; the shares of a workload sum to 1.
  double share = 1;
  Distribution service = Distribution::Exponential(50);
  // Yield of a request answered in time.
  double yield = 1;
};

struct Workload {
  std::string name;
  // Gap between arrivals of all classes together, as published; ScaledTo changes the rate.
  Distribution gap = Distribution::Exponential(50);
  std::vector<RequestClass> classes;

  // Mean service time over the classes.
  double service_mean() const;
  // Returns the gaps that keep `server_count` servers busy for `load` of their time.
  Distribution GapFor(double load, double server_count) const {
    return gap.ScaledTo(service_mean() / (load * server_count));
  }
  // Draws a class by share.
  const RequestClass& Draw(neptune::RandomSource& random) const;
};

// "Poisson/Exp", "Fine-Grain", "Medium-Grain", "Differentiated Search", "Micro-benchmark", "Ask
// stream", "MICRO", "Index matching", "Ranking", "Bimodal".
// Errors: kNotFound.
neptune::StatusOr<Workload> FindWorkload(std::string_view name);
std::vector<Workload> AllWorkloads();

// Poisson arrivals, exponential service with another mean than 50 ms.
Workload PoissonExp(double service_mean_ms);

// Ratio of the rate at `time_of_day`, in [0, 1), to the daily mean: 3 at its peak, mean 1.
// Source: [Shen02] 4.1 (daily peak to average load 3 : 1). The curve's form is ours.
double DailyRate(double time_of_day);

}  // namespace search::workload
