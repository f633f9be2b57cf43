// Reads trace profiles and compares generated traces with their published statistics.
//
// Source: trace_profile.proto.
// Threads: pure functions; LoadTraceProfile reads a file.
// Errors: INVALID_ARGUMENT names the file and the field.
// Limits: those of neptune/base/text_config.h; kProfileDurationMaxS and kProfileRequestCountMax.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/trace/trace_profile.pb.h"
#include "tools/trace/trace_statistics.h"

namespace search::tools {

inline constexpr double kProfileDurationMaxS = 31 * 86'400;
inline constexpr double kProfileRequestCountMax = 50e6;

neptune::Status CheckTraceProfile(const TraceProfile& profile);
neptune::StatusOr<TraceProfile> LoadTraceProfile(const std::string& path);

// A published figure and the generated one.
struct FitLine {
  std::string statistic;
  double published = 0;
  double made = 0;
  double tolerance = 0;
  bool holds() const;
};
// Errors: INVALID_ARGUMENT the profile names an unknown statistic.
neptune::StatusOr<std::vector<FitLine>> CompareWithPublished(const TraceProfile& profile,
                                                             const TraceStatistics& made);
std::string DescribeFit(const std::vector<FitLine>& fit);

// Rates of the 24 hours of a day from a list of requests a second, from midnight, one number a
// line; days are averaged. Errors: INVALID_ARGUMENT a line is not a number, or less than a day of
// them.
neptune::StatusOr<std::vector<double>> ReadHourlyRates(const std::string& path);

}  // namespace search::tools
