// Predicts response time over load from a profile, as a table, CSV or plot.
//
// Source: [Jamjoom04] IV.
// Threads: pure functions.
// Errors: kInvalidArgument no rates, or parameters that the model rejects.
// Limits: kPredictedRateCountMax rates.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/mtrr/response_model.h"
#include "tools/plot/plot.h"

namespace search::tools {

inline constexpr int kPredictedRateCountMax = 10'000;

struct PredictionOptions {
  double service_rate = 0;
  neptune::Speedup speedup;
  std::vector<int> thread_counts;
  int queue_length_max = 40;
  // Threads of other, overloaded classes.
  int overloaded_thread_count = 0;
  // Highest arrival rate; rates go from above 0 to this.
  double rate_max = 0;
  int rate_count = 20;
  // Time slice of the operating system; 0: infinitely short.
  double quantum_s = 0.010;
};

struct PredictedPoint {
  double arrival_rate = 0;
  neptune::ResponseModel model;
};

struct PredictedLine {
  int thread_count = 1;
  // Upper bound of the relative over-prediction of the service time, caused by time slices.
  double quantum_error = 0;
  std::vector<PredictedPoint> points;
};

neptune::StatusOr<std::vector<PredictedLine>> Predict(const PredictionOptions& options);

std::string PredictionTable(const std::vector<PredictedLine>& lines);
std::string PredictionCsv(const std::vector<PredictedLine>& lines);
plot::Plot PredictionPlot(const std::vector<PredictedLine>& lines);

}  // namespace search::tools
