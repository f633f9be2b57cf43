#include "cache/eviction/window_climber.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace search::cache {
namespace {

// The share after many samples of a cache whose hit ratio falls with the distance from `best`.
double ClimbTo(double best) {
  constexpr uint64_t kSampleSize = 1000;
  WindowClimber climber;
  double share = 0.01;
  for (int sample = 0; sample < 300; ++sample) {
    const double hit_ratio = 0.6 - 0.5 * std::abs(share - best);
    for (uint64_t request = 1; request <= kSampleSize; ++request) {
      const bool is_hit = static_cast<double>(request) <= hit_ratio * kSampleSize;
      const auto change = climber.Count(is_hit, kSampleSize);
      EXPECT_EQ(change.has_value(), request == kSampleSize);
      if (change) share = std::clamp(share + *change, 0.01, 0.8);
    }
  }
  return share;
}

TEST(WindowClimberTest, FindsTheBestShare) {
  EXPECT_NEAR(ClimbTo(0.5), 0.5, 0.05);
  EXPECT_NEAR(ClimbTo(0.1), 0.1, 0.05);
}

}  // namespace
}  // namespace search::cache
