#include "neptune/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/base/thread_cells.h"

namespace neptune {
namespace {

constexpr double kErrorMax = 1.0 / 128;  // for 6 precision bits

std::vector<uint64_t> Samples(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> latency(13, 2);
  std::vector<uint64_t> samples(count);
  for (uint64_t& sample : samples) sample = static_cast<uint64_t>(latency(random));
  return samples;
}

Histogram Of(const std::vector<uint64_t>& samples) {
  Histogram histogram;
  for (uint64_t sample : samples) histogram.Record(sample);
  return histogram;
}

// The first bucket that is not empty.
size_t FirstBucket(const Histogram& histogram) {
  const std::vector<uint64_t>& buckets = histogram.buckets();
  const auto first = std::find_if(buckets.begin(), buckets.end(), [](uint64_t n) { return n > 0; });
  return static_cast<size_t>(first - buckets.begin());
}

TEST(HistogramLayoutTest, BucketsCoverEveryValueOnceInOrder) {
  const HistogramLayout layout({.precision_bits = 3, .value_max = 5000});
  uint64_t next = 0;
  for (size_t i = 0; i < layout.bucket_count(); ++i) {
    ASSERT_EQ(layout.LowerBound(i), next);
    next += layout.Width(i);
    ASSERT_EQ(layout.BucketOf(next - 1), std::min(i, layout.BucketOf(5000)));
  }
  EXPECT_GT(next, 5000u);
}

TEST(HistogramLayoutTest, WholeRangeOfNumbersHasBuckets) {
  const HistogramLayout layout({.precision_bits = 6, .value_max = UINT64_MAX});
  const size_t last = layout.bucket_count() - 1;
  EXPECT_EQ(layout.BucketOf(UINT64_MAX), last);
  EXPECT_EQ(layout.LowerBound(last) + (layout.Width(last) - 1), UINT64_MAX);
}

TEST(HistogramLayoutTest, DefaultNeedsLessThan20KiB) {
  EXPECT_LT(HistogramLayout({}).bucket_count() * sizeof(uint64_t), 20u << 10);
}

TEST(HistogramTest, EmptyAnswersZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.Mean(), 0);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.Percentile(0.5), 0u);
}

TEST(HistogramTest, SmallValuesAreExact) {
  const Histogram histogram = Of({5, 1, 3, 2, 4});
  EXPECT_EQ(histogram.Percentile(0), 1u);
  EXPECT_EQ(histogram.Percentile(0.5), 3u);
  EXPECT_EQ(histogram.Percentile(0.6), 3u);
  EXPECT_EQ(histogram.Percentile(0.61), 4u);
  EXPECT_EQ(histogram.Percentile(1), 5u);
  EXPECT_EQ(histogram.Mean(), 3);
}

TEST(HistogramTest, PercentilesKeepTheErrorAgainstSortedSamples) {
  std::vector<uint64_t> samples = Samples(7, 20'000);
  const Histogram histogram = Of(samples);
  std::sort(samples.begin(), samples.end());
  for (double fraction = 0.001; fraction < 1; fraction += 0.001) {
    const size_t rank = static_cast<size_t>(std::ceil(fraction * samples.size()));
    const double exact = static_cast<double>(samples[std::max<size_t>(rank, 1) - 1]);
    ASSERT_NEAR(histogram.Percentile(fraction), exact, exact * kErrorMax + 1) << fraction;
  }
  EXPECT_EQ(histogram.min(), samples.front());
  EXPECT_EQ(histogram.max(), samples.back());
}

TEST(HistogramTest, CountAtMostKeepsTheErrorAgainstSortedSamples) {
  std::vector<uint64_t> samples = Samples(8, 20'000);
  const Histogram histogram = Of(samples);
  std::sort(samples.begin(), samples.end());
  const auto exact = [&](double bound) {
    return std::upper_bound(samples.begin(), samples.end(), bound) - samples.begin();
  };
  for (double bound = 1000; bound < 1e9; bound *= 1.7) {
    const auto count = static_cast<int64_t>(histogram.CountAtMost(bound));
    ASSERT_GE(count, exact(bound));
    ASSERT_LE(count, exact(bound * (1 + 2 * kErrorMax)));
  }
}

TEST(HistogramTest, MergeEqualsRecordingEverything) {
  const std::vector<uint64_t> a = Samples(1, 1000);
  const std::vector<uint64_t> b = Samples(2, 1000);
  std::vector<uint64_t> all = a;
  all.insert(all.end(), b.begin(), b.end());
  Histogram merged = Of(a);
  merged.Merge(Of(b));
  const Histogram whole = Of(all);
  EXPECT_EQ(merged.buckets(), whole.buckets());
  EXPECT_EQ(merged.sum(), whole.sum());
  EXPECT_EQ(merged.min(), whole.min());
  EXPECT_EQ(merged.max(), whole.max());
}

TEST(HistogramTest, MergeOfAnotherPrecisionKeepsCountsAndTheCoarserError) {
  Histogram coarse({.precision_bits = 3});
  coarse.Merge(Of(Samples(3, 1000)));
  const Histogram fine = Of(Samples(3, 1000));
  EXPECT_EQ(coarse.count(), fine.count());
  EXPECT_EQ(coarse.sum(), fine.sum());
  EXPECT_NEAR(coarse.Percentile(0.9), fine.Percentile(0.9), fine.Percentile(0.9) / 8.0);
}

TEST(HistogramTest, ValuesOverTheMaximumAreCountedAndMaxIsExact) {
  Histogram histogram({.precision_bits = 6, .value_max = 1000});
  histogram.Record(50'000, 3);
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.max(), 50'000u);
  EXPECT_EQ(histogram.Percentile(0.5), 50'000u);
  EXPECT_EQ(histogram.CountAtMost(UINT64_MAX), 3u);
}

TEST(AtomicHistogramTest, LosesNothingUnderConcurrentRecording) {
  constexpr uint64_t kThreadCount = 100;  // some have no part of their own
  constexpr int kSampleCount = 1000;
  AtomicHistogram histogram;
  Notification go;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreadCount; ++t) {
    threads.emplace_back([&, t] {
      go.WaitForNotification();
      for (uint64_t sample : Samples(t, kSampleCount)) histogram.Record(sample);
    });
  }
  go.Notify();
  for (std::thread& thread : threads) thread.join();
  Histogram expected;
  for (uint64_t t = 0; t < kThreadCount; ++t) expected.Merge(Of(Samples(t, kSampleCount)));
  const Histogram recorded = histogram.Snapshot();
  EXPECT_EQ(recorded.buckets(), expected.buckets());
  EXPECT_EQ(recorded.count(), expected.count());
  EXPECT_EQ(recorded.sum(), expected.sum());
  EXPECT_EQ(recorded.min(), expected.min());
  EXPECT_EQ(recorded.max(), expected.max());
}

TEST(AtomicHistogramTest, ASnapshotDuringRecordingHasBoundsThatEncloseItsValues) {
  AtomicHistogram histogram;
  std::atomic<bool> ends{false};
  std::thread recorder([&] {
    for (uint64_t i = 1; !ends.load(); ++i) histogram.Record(1'000'000 / (i % 1000 + 1));
  });
  uint64_t counted = 0;
  while (counted < 50'000) {
    const Histogram snapshot = histogram.Snapshot();
    EXPECT_GE(snapshot.count(), counted) << "counts do not decrease";
    counted = snapshot.count();
    if (counted == 0) continue;
    EXPECT_LE(snapshot.min(), snapshot.max());
    EXPECT_LE(snapshot.layout().BucketOf(snapshot.min()), FirstBucket(snapshot));
  }
  ends = true;
  recorder.join();
}

TEST(AtomicHistogramTest, AFewBucketsAreEnough) {
  AtomicHistogram tiny({.precision_bits = 1, .value_max = 2});
  for (const uint64_t value : {0, 1, 2, 3}) tiny.Record(value);
  const Histogram recorded = tiny.Snapshot();
  EXPECT_EQ(recorded.count(), 4u);
  EXPECT_EQ(recorded.buckets(), (std::vector<uint64_t>{1, 1, 2}));
  EXPECT_EQ(recorded.max(), 3u);
}

TEST(AtomicHistogramTest, KeepsWhatMoreThreadsThanHaveNumbersRecord) {
  AtomicHistogram histogram;
  constexpr uint64_t kThreadCount = kThreadNumberCount + 30;
  std::atomic<uint64_t> left{kThreadCount};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreadCount; ++t) {
    threads.emplace_back([&, t] {
      (void)ThreadNumber();
      --left;
      while (left > 0) std::this_thread::yield();  // all of them live at once
      for (uint64_t sample : Samples(t, 100)) histogram.Record(sample);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Histogram expected;
  for (uint64_t t = 0; t < kThreadCount; ++t) expected.Merge(Of(Samples(t, 100)));
  const Histogram recorded = histogram.Snapshot();
  EXPECT_EQ(recorded.buckets(), expected.buckets());
  EXPECT_EQ(recorded.sum(), expected.sum());
  EXPECT_EQ(recorded.min(), expected.min());
  EXPECT_EQ(recorded.max(), expected.max());
}

}  // namespace
}  // namespace neptune
