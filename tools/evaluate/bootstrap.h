// A mean over queries with its confidence interval.
//
// Source: [Efron93], percentile interval.
// Randomness comes from the seed only: same values and seed, same interval.
// Threads: pure functions.
// Limits: kResamples resamples; time grows with values * resamples.

#pragma once

#include <cstdint>
#include <vector>

namespace search::tools {

inline constexpr int kResamples = 2000;

// A mean with the bounds of its 95 % confidence interval; all 0 if there are no values.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// For the difference of two runs, pass the per-query differences to get a paired interval.
Estimate EstimateMean(const std::vector<double>& values, uint64_t seed);

}  // namespace search::tools
