// The inaccuracy of a load index as a function of its age.
//
// One server under Poisson load; its load index is sampled every tenth of a service time, and pairs
// of samples with a given delay are compared.

#include <algorithm>
#include <cmath>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/sim_cluster.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr double kServiceMs = 50;
// Delays in service times. The last represents infinity: at 90 % the queue forgets its state within
// a few hundred service times.
constexpr double kDelays[] = {0.1, 0.3, 1, 3, 10, 30, 100, 300, 3000};
constexpr double kForever = 3000;
constexpr double kGrid = 0.1;

std::string DelayMetric(double delay) { return StrCat("inaccuracy_at_", delay, "_service_times"); }

// The mean difference of two independent samples of an M/M/1 queue.
double Limit(double load) { return 2 * load / (1 - load * load); }

// Exact mean |Q(t) - Q(0)| of an M/M/1 queue in its steady state. The chain is uniformised at its
// total rate, so that a step is an arrival with probability load / (1 + load), else a departure.
double ExactInaccuracy(double load, double delay) {
  constexpr int kLengthMax = 250;
  const double step_rate = 1 + load;
  const double up = load / step_rate;
  const double steps_mean = step_rate * delay;
  const int step_count = static_cast<int>(steps_mean + 12 * std::sqrt(steps_mean) + 30);
  double total = 0;
  for (int start = 0; start <= kLengthMax / 2; ++start) {
    std::vector<double> at(kLengthMax + 1, 0.0);
    at[static_cast<size_t>(start)] = 1;
    double log_poisson = -steps_mean;  // of the step's number
    for (int step = 0; step <= step_count; ++step) {
      const double weight = std::exp(log_poisson) * (1 - load) * std::pow(load, start);
      double difference = 0;
      for (int i = 0; i <= kLengthMax; ++i) {
        difference += at[static_cast<size_t>(i)] * std::abs(i - start);
      }
      total += weight * difference;
      std::vector<double> next(at.size(), 0.0);
      for (size_t i = 0; i < at.size(); ++i) {
        next[std::min(i + 1, at.size() - 1)] += at[i] * up;
        next[i == 0 ? 0 : i - 1] += at[i] * (1 - up);
      }
      at = std::move(next);
      log_poisson += std::log(steps_mean) - std::log(step + 1);
    }
  }
  return total;
}

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const double load : {0.5, 0.9}) points.push_back(Point{}.Set("load", load));
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  // The queue of the formula is unbounded.
  SimCluster cluster({.seed = context.seed,
                      .server_count = 1,
                      .client_count = 1,
                      .balancing = "random",
                      .queue_length_max = 100'000});
  const double load = point.Number("load");
  const uint64_t count = context.Pick<uint64_t>(20'000, 150'000, 1'000'000);
  SimLoadOptions options;
  options.gap_ms = workload::Distribution::Exponential(kServiceMs / load);
  options.service_ms = workload::Distribution::Exponential(kServiceMs);
  options.warm_up_count = 5'000;
  options.count = count;
  options.timeout = std::chrono::hours(24);

  std::vector<uint16_t> looks;
  neptune::Simulator& simulator = cluster.simulator();
  const neptune::Duration grid = neptune::FromSeconds(kGrid * kServiceMs / 1000);
  const neptune::TimePoint begin =
      simulator.now() + neptune::FromSeconds(options.warm_up_count * kServiceMs / load / 1000);
  const neptune::TimePoint end =
      begin + neptune::FromSeconds(0.95 * static_cast<double>(count) * kServiceMs / load / 1000);
  std::function<void(neptune::TimePoint)> look = [&](neptune::TimePoint at) {
    looks.push_back(static_cast<uint16_t>(cluster.server(0).LoadIndex()));
    if (at + grid < end) simulator.At(at + grid, [&look, at, grid] { look(at + grid); });
  };
  simulator.At(begin, [&look, begin] { look(begin); });
  RunLoad(cluster, options, context.seed);

  Measurement measurement;
  for (const double delay : kDelays) {
    const auto apart = static_cast<size_t>(std::llround(delay / kGrid));
    if (apart >= looks.size()) continue;
    double sum = 0;
    for (size_t i = 0; i + apart < looks.size(); ++i) sum += std::abs(looks[i + apart] - looks[i]);
    measurement[DelayMetric(delay)] = sum / static_cast<double>(looks.size() - apart);
  }
  return measurement;
}

void Judge(const Results& results, Judgement* judgement) {
  plot::Plot figure{.name = "inaccuracy",
                    .title = "Load index inaccuracy by the age of the index",
                    .x = {.label = "delay, mean service times", .logarithmic = true},
                    .y = {.label = "mean difference of the queue length", .low = 0}};
  for (const Point& point : results.points()) {
    const double load = point.Number("load");
    const std::string name = StrCat(100 * load, " % utilization");
    plot::Series series{.name = name, .dots = {}};
    for (const double delay : kDelays) {
      const Estimate ours = results.Mean(point, DelayMetric(delay));
      series.dots.push_back({delay, ours.middle, ours.low, ours.high});
    }
    figure.series.push_back(std::move(series));
    figure.levels.push_back({StrCat("bound at ", 100 * load, " %"), Limit(load)});
    const Estimate limit = results.Mean(point, DelayMetric(kForever));
    judgement->Between(StrCat("limit, ", name), load == 0.5 ? "1.33" : "2ρ/(1-ρ²) = 9.47", limit,
                       0.98 * Limit(load), 1.02 * Limit(load));
    std::vector<double> growth = results.Values(point, DelayMetric(3));
    const std::vector<double> early = results.Values(point, DelayMetric(0.1));
    for (size_t i = 0; i < growth.size(); ++i) growth[i] -= early[i];
    judgement
        ->AtLeast(StrCat("more inaccurate after 3 service times than after 0.1, ", name), "yes",
                  results.MeanOfRuns(growth), 0)
        .Shape();
  }
  const Point busy = results.points().back();
  const Estimate ten = results.Mean(busy, DelayMetric(10));
  const double exact = ExactInaccuracy(0.9, 10);
  judgement->Between("ten service times old, 90 % utilization", "around 3", ten, 2.7, 3.3);
  judgement->Between("the same relative to the exact Markov chain", "", ten, 0.98 * exact,
                     1.02 * exact);
  judgement->AddPlot(std::move(figure));
}

}  // namespace

Experiment LbStaleness() {
  Experiment experiment;
  experiment.name = "lb_staleness";
  experiment.title = "Accuracy of load information";
  experiment.source = "[Shen02] 3.2.1, formula 3.2.1 and figure 3.1";
  experiment.setup =
      "One server that serves one request at a time, with Poisson arrivals, exponential service "
      "times of 50 ms and an unbounded queue. The inaccuracy for a delay is the mean difference "
      "of the load index between two moments that are this far apart.";
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 16};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
