// The schedule of a replay: the requests of a trace with their scaled send times.
//
// Threads: immutable once made.
// Errors: INVALID_ARGUMENT an empty trace, or an empty plan; RESOURCE_EXHAUSTED too many classes.
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
  uint32_t query = 0;  // index into ReplayPlan::queries
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
  // Divisor of the trace's times. Must be above 0.
  double speed = 1;
  // Requests up to this time after scaling; a shorter trace repeats after its end if
  // `repeat` says so. 0: the whole trace once.
  double duration_s = 0;
  bool repeat = false;
};

neptune::StatusOr<ReplayPlan> MakeReplayPlan(const std::vector<TraceRecord>& trace,
                                             const PlanOptions& options);

// Returns the requests per second of the trace at speed 1. REQUIRES: `trace` is not empty.
double MeanRate(const std::vector<TraceRecord>& trace);

// Returns the speed at which the first `duration_s` seconds of the repeated trace have a mean rate
// of `rate` requests per second; with duration 0, the whole trace. REQUIRES: `trace` is not empty,
// rate > 0.
double SpeedForRate(const std::vector<TraceRecord>& trace, double rate, double duration_s);

}  // namespace search::tools
