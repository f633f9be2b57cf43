// The fits against the published moments, by many seeded samples.

#include "tools/workload/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace search::workload {
namespace {

constexpr uint64_t kSeed = 7;
constexpr int kSampleCount = 400'000;

struct Moments {
  double mean = 0;
  double deviation = 0;
  double p90 = 0;
  double max = 0;
};

Moments Measure(const Distribution& distribution) {
  neptune::RandomSource random(kSeed);
  std::vector<double> samples(kSampleCount);
  double sum = 0;
  for (double& sample : samples) sum += sample = distribution.Sample(random);
  Moments moments;
  moments.mean = sum / kSampleCount;
  for (const double sample : samples) {
    moments.deviation += (sample - moments.mean) * (sample - moments.mean) / kSampleCount;
  }
  moments.deviation = std::sqrt(moments.deviation);
  std::sort(samples.begin(), samples.end());
  moments.p90 = samples[kSampleCount * 9 / 10];
  moments.max = samples.back();
  EXPECT_GT(samples.front(), 0);
  return moments;
}

void ExpectMoments(const Distribution& distribution, double mean, double deviation) {
  const Moments moments = Measure(distribution);
  EXPECT_NEAR(moments.mean, mean, 0.01 * mean) << "seed " << kSeed;
  EXPECT_NEAR(moments.deviation, deviation, 0.015 * deviation) << "seed " << kSeed;
}

Workload Find(std::string_view name) { return *FindWorkload(name); }

TEST(WorkloadsTest, FineGrainHasTheMomentsOfTable31) {
  ExpectMoments(Find("Fine-Grain").gap, 436.7, 349.4);
  ExpectMoments(Find("Fine-Grain").classes[0].service, 22.2, 10.0);
}

TEST(WorkloadsTest, MediumGrainHasTheMomentsOfTable31) {
  ExpectMoments(Find("Medium-Grain").gap, 341.5, 321.1);
  ExpectMoments(Find("Medium-Grain").classes[0].service, 208.9, 62.9);
}

TEST(WorkloadsTest, DifferentiatedSearchHasTheMomentsOfTable42) {
  const Workload workload = Find("Differentiated Search");
  ExpectMoments(workload.gap, 163, 166);
  for (const RequestClass& one : workload.classes) ExpectMoments(one.service, 247.9, 218.2);
}

TEST(WorkloadsTest, NonCachedPartOfTheAskStreamHasTheGapsOfTable42) {
  // A stream of which 70 % are repeats leaves one in 1 / 0.3 to the index.
  const Workload workload = Find("Ask stream");
  EXPECT_NEAR(workload.gap.mean(), 49.7, 0.05);
  EXPECT_NEAR(workload.gap.mean() / 0.3, 163, 0.02 * 163);
}

TEST(WorkloadsTest, IndexMatchingHasTheQuantilesOfTheSlides) {
  const Moments moments = Measure(Find("Index matching").classes[0].service);
  EXPECT_NEAR(moments.mean, 23.6, 0.02 * 23.6);
  EXPECT_NEAR(moments.p90, 46, 0.02 * 46);
  EXPECT_LE(moments.max, 2732);
  EXPECT_GT(moments.max, 2500);
}

TEST(WorkloadsTest, RankingHasTheQuantilesOfTheSlides) {
  const Moments moments = Measure(Find("Ranking").classes[0].service);
  EXPECT_NEAR(moments.mean, 93, 0.01 * 93);
  EXPECT_NEAR(moments.p90, 212, 0.02 * 212);
}

TEST(WorkloadsTest, BimodalHasTwoValues) {
  const Distribution service = Find("Bimodal").classes[0].service;
  neptune::RandomSource random(kSeed);
  for (int i = 0; i < 1000; ++i) {
    const double value = service.Sample(random);
    EXPECT_TRUE(value == 5 || value == 500) << value;
  }
  EXPECT_NEAR(service.mean(), 54.5, 1e-9);
}

TEST(WorkloadsTest, ClassesAreDrawnByTheirShares) {
  const Workload workload = Find("Differentiated Search");
  neptune::RandomSource random(kSeed);
  int gold = 0;
  for (int i = 0; i < kSampleCount; ++i) gold += workload.Draw(random).name == "Gold";
  EXPECT_NEAR(gold, 0.1 * kSampleCount, 0.02 * kSampleCount * 0.1);
}

TEST(WorkloadsTest, SharesSumToOne) {
  for (const Workload& workload : AllWorkloads()) {
    double sum = 0;
    for (const RequestClass& one : workload.classes) sum += one.share;
    EXPECT_NEAR(sum, 1, 1e-12) << workload.name;
  }
}

TEST(WorkloadsTest, GapForALoadKeepsTheServersThatBusy) {
  const Workload workload = Find("Fine-Grain");
  const Distribution gap = workload.GapFor(0.9, 16);
  EXPECT_NEAR(workload.service_mean() / gap.mean() / 16, 0.9, 1e-12);
  EXPECT_NEAR(gap.deviation() / gap.mean(), 349.4 / 436.7, 1e-9) << "the shape stays";
}

TEST(WorkloadsTest, DailyRateHasMeanOneAndPeakThree) {
  double sum = 0;
  double peak = 0;
  for (int i = 0; i < 10'000; ++i) {
    sum += DailyRate(i / 10'000.0) / 10'000;
    peak = std::max(peak, DailyRate(i / 10'000.0));
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_NEAR(peak, 3, 0.01);
}

TEST(WorkloadsTest, UnknownNameIsNotFound) {
  EXPECT_EQ(FindWorkload("Coarse").status().code(), neptune::StatusCode::kNotFound);
}

TEST(WorkloadsTest, SameSeedGivesTheSameSamples) {
  for (const Workload& workload : AllWorkloads()) {
    neptune::RandomSource a(kSeed), b(kSeed);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(workload.classes[0].service.Sample(a), workload.classes[0].service.Sample(b));
    }
  }
}

}  // namespace
}  // namespace search::workload
