// The profile of one kind of requests: measured throughput over threads and the fitted speedup,
// stored as a JSON file.
//
// Source: [Jamjoom04] II.
// Threads: pure functions.
// Errors: kInvalidArgument the text is not a profile.
// Units: rates per second, times in seconds.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/mtrr/speedup.h"

namespace search::tools {

// Throughput with `thread_count` busy threads: the median of the repetitions and their extremes.
struct ProfilePoint {
  int thread_count = 1;
  double throughput = 0;
  double throughput_low = 0;
  double throughput_high = 0;
};

struct ServiceProfile {
  std::string service;
  std::string service_class;
  // Description of the load: target, path and queries.
  std::string load;
  std::vector<ProfilePoint> points;
  // Mean processor time of a request at the node; absent: the node did not report it.
  std::optional<double> processor_s;
  // Fitted to the points.
  neptune::SpeedupFit fit;
  // The smallest number of threads with nearly the best throughput.
  int recommended_threads = 1;
};

// Fits the points. Errors: those of FitSpeedup.
neptune::Status CompleteProfile(ServiceProfile* profile);

std::string ProfileJson(const ServiceProfile& profile);
// The fit is recomputed from the points. `name` is used in messages.
neptune::StatusOr<ServiceProfile> ParseProfile(std::string_view json, std::string_view name);

// A table of points and fit, with a summary sentence.
std::string ProfileText(const ServiceProfile& profile);

}  // namespace search::tools
