#include "cache/eviction/frequency_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace search::cache {
namespace {

TEST(FrequencySketchTest, CountsUpToItsMaximum) {
  FrequencySketch sketch;
  EXPECT_EQ(sketch.Estimate(7), 0u);
  for (uint32_t count = 1; count <= 40; ++count) {
    sketch.Add(7);
    EXPECT_EQ(sketch.Estimate(7), std::min(count, FrequencySketch::kEstimateMax));
  }
}

// True counts are a lower bound until the first halving, and most estimates are exact.
TEST(FrequencySketchTest, IsNeverTooLowAndSeldomTooHigh) {
  FrequencySketch sketch;
  sketch.EnsureCapacity(1024);
  std::mt19937_64 random(1);
  std::map<uint64_t, uint32_t> counts;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t id = random() % (1 + random() % 2000);
    sketch.Add(id);
    ++counts[id];
  }
  size_t exact_count = 0;
  for (const auto& [id, count] : counts) {
    const uint32_t expected = std::min(count, FrequencySketch::kEstimateMax);
    ASSERT_GE(sketch.Estimate(id), expected) << id;
    exact_count += sketch.Estimate(id) == expected ? 1 : 0;
  }
  EXPECT_GT(exact_count, counts.size() * 9 / 10) << "of " << counts.size();
}

TEST(FrequencySketchTest, FadesWithNewOccurrences) {
  FrequencySketch sketch;
  for (int i = 0; i < 16; ++i) sketch.Add(7);
  const uint64_t sample = FrequencySketch::kSampleFactor * sketch.word_count();
  for (uint64_t i = 0; i < sample; ++i) sketch.Add(1'000'000 + i);
  EXPECT_LE(sketch.Estimate(7), 9u);
  EXPECT_GE(sketch.Estimate(7), 7u);
  for (uint64_t i = 0; i < 3 * sample; ++i) sketch.Add(9'000'000 + i);
  EXPECT_LE(sketch.Estimate(7), 3u);
}

// Otherwise one scan would fill the counters.
TEST(FrequencySketchTest, KeepsIdsThatOccurOnceOutOfTheCounters) {
  FrequencySketch sketch;
  sketch.EnsureCapacity(4096);
  for (uint64_t id = 0; id < 8192; ++id) sketch.Add(id);
  uint64_t estimates = 0;
  for (uint64_t id = 1'000'000; id < 1'010'000; ++id) estimates += sketch.Estimate(id);
  EXPECT_LT(estimates, 1500u) << "of 10000 ids that never occurred";
}

TEST(FrequencySketchTest, KeepsItsCountsWhenItGrows) {
  FrequencySketch sketch;
  for (uint64_t id = 0; id < 50; ++id) {
    for (uint64_t i = 0; i <= id % 10; ++i) sketch.Add(id);
  }
  std::map<uint64_t, uint32_t> before;
  for (uint64_t id = 0; id < 50; ++id) before[id] = sketch.Estimate(id);
  sketch.EnsureCapacity(5000);
  EXPECT_EQ(sketch.word_count(), 8192u);
  for (uint64_t id = 0; id < 50; ++id) EXPECT_EQ(sketch.Estimate(id), before[id]) << id;
}

}  // namespace
}  // namespace search::cache
