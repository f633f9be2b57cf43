#include "tools/mtrr/prediction.h"

#include <cmath>
#include <cstdio>

#include "neptune/base/strings.h"

namespace search::tools {

using neptune::InvalidArgument;
using neptune::StatusOr;
using neptune::StrCat;

StatusOr<std::vector<PredictedLine>> Predict(const PredictionOptions& options) {
  if (!(std::isfinite(options.rate_max) && options.rate_max > 0) || options.rate_count < 1 ||
      options.rate_count > kPredictedRateCountMax) {
    return InvalidArgument("rates up to ", options.rate_max, " a second in ", options.rate_count,
                           " steps; the limits are 1 to ", kPredictedRateCountMax);
  }
  if (options.thread_counts.empty()) return InvalidArgument("no number of threads");
  if (!(options.quantum_s >= 0)) return InvalidArgument("a quantum of ", options.quantum_s, " s");
  std::vector<PredictedLine> lines;
  for (const int threads : options.thread_counts) {
    PredictedLine line{
        .thread_count = threads,
        .quantum_error = neptune::QuantumError(threads, options.service_rate, options.quantum_s),
        .points = {}};
    for (int i = 1; i <= options.rate_count; ++i) {
      const double rate = options.rate_max * i / options.rate_count;
      NEPTUNE_ASSIGN_OR_RETURN(
          const neptune::ResponseModel model,
          neptune::PredictResponse({.arrival_rate = rate,
                                    .service_rate = options.service_rate,
                                    .speedup = options.speedup,
                                    .thread_count = threads,
                                    .queue_length_max = options.queue_length_max,
                                    .overloaded_thread_count = options.overloaded_thread_count}));
      line.points.push_back({rate, model});
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string PredictionTable(const std::vector<PredictedLine>& lines) {
  std::string text;
  char row[200];
  for (const PredictedLine& line : lines) {
    std::snprintf(
        row, sizeof(row),
        "%d threads; the quantum makes the service time at most %.1f %% shorter than predicted\n"
        "%10s %6s %12s %8s %10s %12s\n",
        line.thread_count, 100 * line.quantum_error, "rate /s", "load", "response ms", "lost %",
        "busy", "answered /s");
    text += row;
    for (const PredictedPoint& point : line.points) {
      std::snprintf(row, sizeof(row), "%10.1f %6.2f %12.2f %8.2f %10.2f %12.1f\n",
                    point.arrival_rate, point.model.load, 1000 * point.model.response_s,
                    100 * point.model.loss_share, point.model.in_service_mean,
                    point.model.throughput);
      text += row;
    }
  }
  return text;
}

std::string PredictionCsv(const std::vector<PredictedLine>& lines) {
  std::string text =
      "threads,quantum_error,arrival_rate,load,response_s,loss_share,busy_threads,throughput\n";
  char row[300];
  for (const PredictedLine& line : lines) {
    for (const PredictedPoint& point : line.points) {
      std::snprintf(row, sizeof(row), "%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", line.thread_count,
                    line.quantum_error, point.arrival_rate, point.model.load,
                    point.model.response_s, point.model.loss_share, point.model.in_service_mean,
                    point.model.throughput);
      text += row;
    }
  }
  return text;
}

plot::Plot PredictionPlot(const std::vector<PredictedLine>& lines) {
  plot::Plot plot{.name = "prediction",
                  .title = "Mean response time by load",
                  .x = {.label = "requests per second"},
                  .y = {.label = "ms", .logarithmic = true}};
  for (const PredictedLine& line : lines) {
    plot::Series series{.name = StrCat(line.thread_count, " threads"),
                        .dots = {},
                        .style = plot::Series::Style::kLines};
    for (const PredictedPoint& point : line.points) {
      series.dots.push_back({point.arrival_rate, 1000 * point.model.response_s});
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace search::tools
