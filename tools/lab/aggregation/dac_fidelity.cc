// The same clusters under the same load, simulated and real.

#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/aggregation/aggregation_real.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

// Half of the cluster's capacity, at every size.
constexpr double kRate = 30;
constexpr char kThroughput[] = "full_per_s";
constexpr char kMean[] = "response_ms_mean";

Point PointOf(const std::string& world, int partitions) {
  return Point{{"world", world}}.Set("partitions", partitions);
}

std::vector<int> Sizes(Length length) {
  if (length == Length::kSmoke) return {4};
  if (length == Length::kQuick) return {4, 12, 24};
  return {4, 8, 12, 16, 20, 24};
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const int size : Sizes(length)) {
    points.push_back(PointOf("simulated", size));
    points.push_back(PointOf("real", size));
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  AggregationClusterOptions options;
  options.seed = context.seed;
  options.server_count = static_cast<int>(point.Number("partitions"));
  options.client_count = 2;
  AggregationLoadOptions load;
  load.rate_per_s = kRate;
  load.warm_up = neptune::FromSeconds(context.Pick(0.5, 2.0, 3.0));
  load.duration = neptune::FromSeconds(context.Pick(2.0, 12.0, 30.0));
  AggregationRunResult result;
  if (point.Text("world") == "real") {
    NEPTUNE_ASSIGN_OR_RETURN(result, RunRealAggregations(options, load, context.seed));
  } else {
    AggregationCluster cluster(options);
    result = RunAggregations(cluster, load, context.seed);
  }
  return Measurement{{kThroughput, result.FullRate()},
                     {kMean, result.MeanMs()},
                     {"response_ms_p90", result.PercentileMs(0.9)}};
}

plot::Plot Figure(const Results& results, const char* metric, const std::string& title,
                  const std::string& label) {
  plot::Plot figure{.name = StrCat("fidelity_", metric),
                    .title = title,
                    .x = {.label = "partitions", .low = 0},
                    .y = {.label = label, .low = 0}};
  for (const std::string world : {"simulated", "real"}) {
    plot::Series series{.name = world, .dots = {}};
    for (const int size : Sizes(results.length())) {
      const Estimate value = results.Mean(PointOf(world, size), metric);
      series.dots.push_back({static_cast<double>(size), value.middle, value.low, value.high});
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

// Percent of the simulated figure.
Estimate Deviation(const Results& results, int size, const char* metric) {
  Estimate ratio = results.MeanRatio(PointOf("real", size), PointOf("simulated", size), metric);
  for (double* const value : {&ratio.low, &ratio.middle, &ratio.high}) *value = 100 * (*value - 1);
  return ratio;
}

void Judge(const Results& results, Judgement* judgement) {
  for (const int size : Sizes(results.length())) {
    const std::string what = StrCat(", real over simulated, ", size, " partitions");
    Row& throughput = judgement->Between(StrCat("throughput", what), "close",
                                         Deviation(results, size, kThroughput), -3, 3, "%");
    if (results.length() == Length::kSmoke) throughput.Shape();
    judgement->Between(StrCat("mean response", what), "differs by a small constant",
                       Deviation(results, size, kMean), -10, 10, "%");
    judgement->Shown(StrCat("mean response, real, ", size, " partitions"), "",
                     results.Mean(PointOf("real", size), kMean), "ms");
    judgement->Shown(StrCat("mean response, simulated, ", size, " partitions"), "",
                     results.Mean(PointOf("simulated", size), kMean), "ms");
  }
  judgement->AddPlot(
      Figure(results, kThroughput, "Throughput (figure 21)", "full answers per second"));
  judgement->AddPlot(Figure(results, kMean, "Response time (figure 21)", "mean response, ms"));
}

}  // namespace

Experiment DacFidelity() {
  Experiment experiment;
  experiment.name = "dac_fidelity";
  experiment.title = "The simulated cluster compared with the real one";
  experiment.source = "[Chu03] 5.6, figure 21";
  experiment.setup =
      "MICRO at 30 requests per second on 4 to 24 dual-processor nodes, with 2 callers and "
      "load-adaptive trees. The real nodes run the same code with kernel threads and sockets on "
      "loopback. Each has two emulated processors: a request occupies one for its processor "
      "time, in order, without computing, because the machine has fewer processors than the "
      "cluster. Both worlds receive the same requests at the same times; the simulated network "
      "has the paper's delays.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
