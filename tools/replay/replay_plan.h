// The schedule of a replay: the requests of a trace with their scaled send times.
//
// Threads: immutable once made.
// Errors: INVALID_ARGUMENT an empty trace, or nothing left of it; RESOURCE_EXHAUSTED too many
//   classes.
// Units: nanoseconds since the run's time 0.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/trace/trace_file.h"

namespace search::tools {

struct PlannedRequest {
  int64_t at_ns = 0;
  uint32_t query = 0;  // of ReplayPlan::queries
  uint8_t service_class = 0;
};

struct ReplayPlan {
  std::vector<std::string> classes;
  std::vector<std::string> queries;  // distinct
  std::vector<PlannedRequest> requests;

  // Time of the last request.
  int64_t length_ns() const { return requests.empty() ? 0 : requests.back().at_ns; }
};

struct PlanOptions {
  // Times are divided by it. Above 0.
  double speed = 1;
  // Requests up to this time after scaling; a shorter trace repeats after its end if
  // `repeat` says so. 0: the whole trace once.
  double duration_s = 0;
  bool repeat = false;
};

neptune::StatusOr<ReplayPlan> MakeReplayPlan(const std::vector<TraceRecord>& trace,
                                             const PlanOptions& options);

// Requests a second of the trace at speed 1. REQUIRES: it is not empty.
double MeanRate(const std::vector<TraceRecord>& trace);

// The speed at which the first `duration_s` of the trace, repeated where it ends, have `rate`
// requests a second in the mean; with duration 0, the whole trace. REQUIRES: it is not empty, rate
// > 0.
double SpeedForRate(const std::vector<TraceRecord>& trace, double rate, double duration_s);

}  // namespace search::tools
