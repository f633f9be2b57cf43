#include "tools/evaluate/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tools/evaluate/bootstrap.h"

namespace search::tools {
namespace {

using Ranked = std::vector<std::string>;

TEST(MetricsTest, NdcgOfAHandComputedList) {
  // Gains 0, 3, 0, 1 against the ideal 3, 2, 1; 1/log2(3) = .63093, 1/log2(5) = .43068.
  const Judgments judgments = {{"a", 3}, {"b", 2}, {"c", 1}, {"d", 0}};
  const double gain = 3 * 0.6309297536 + 0.4306765581;
  const double ideal = 3 + 2 * 0.6309297536 + 0.5;
  EXPECT_NEAR(NdcgAt(10, {"d", "a", "x", "c"}, judgments), gain / ideal, 1e-9);
  EXPECT_NEAR(NdcgAt(1, {"b"}, judgments), 2.0 / 3, 1e-12);
}

TEST(MetricsTest, AveragePrecisionOfAHandComputedList) {
  // Relevant at ranks 1, 3 and 5, a fourth not found: (1 + 2/3 + 3/5) / 4.
  const Judgments judgments = {{"a", 1}, {"b", 2}, {"c", 1}, {"d", 1}, {"e", 0}};
  EXPECT_NEAR(AveragePrecision({"a", "e", "b", "x", "c"}, judgments), (1 + 2.0 / 3 + 0.6) / 4,
              1e-12);
}

TEST(MetricsTest, ReciprocalRankIsOfTheFirstRelevant) {
  const Judgments judgments = {{"a", 1}, {"b", 1}, {"c", 0}};
  EXPECT_EQ(ReciprocalRank({"c", "x", "b", "a"}, judgments), 1.0 / 3);
  EXPECT_EQ(ReciprocalRank({"c", "x"}, judgments), 0);
}

TEST(MetricsTest, RecallCountsToTheDepth) {
  const Judgments judgments = {{"a", 1}, {"b", 1}, {"c", 4}, {"d", -1}};
  EXPECT_EQ(RecallAt(2, {"a", "d", "b"}, judgments), 1.0 / 3);
  EXPECT_EQ(RecallAt(100, {"a", "d", "b"}, judgments), 2.0 / 3);
}

TEST(MetricsTest, NothingRelevantIsZero) {
  const Judgments judgments = {{"a", 0}};
  EXPECT_EQ(NdcgAt(10, {"a"}, judgments), 0);
  EXPECT_EQ(AveragePrecision({"a"}, judgments), 0);
  EXPECT_EQ(RecallAt(10, {"a"}, judgments), 0);
}

TEST(MetricsTest, ARepeatedDocumentCountsOnce) {
  const Judgments judgments = {{"a", 1}, {"b", 1}};
  EXPECT_EQ(RecallAt(10, {"a", "a"}, judgments), 0.5);
  EXPECT_EQ(AveragePrecision({"a", "a"}, judgments), 0.5);
  EXPECT_LT(NdcgAt(10, {"a", "a"}, judgments), 1);
}

struct Sample {
  Ranked ranked;
  Judgments judgments;
};

Sample RandomSample(std::mt19937_64* random) {
  Sample sample;
  for (int i = 0; i < 30; ++i) {
    const std::string id = std::to_string(i);
    sample.ranked.push_back(id);
    if ((*random)() % 3 == 0) sample.judgments[id] = static_cast<int>((*random)() % 5) - 1;
  }
  sample.judgments["0"] = 1;
  std::shuffle(sample.ranked.begin(), sample.ranked.end(), *random);
  return sample;
}

std::vector<double> All(const Sample& sample) {
  return {NdcgAt(10, sample.ranked, sample.judgments),
          AveragePrecision(sample.ranked, sample.judgments),
          ReciprocalRank(sample.ranked, sample.judgments),
          RecallAt(10, sample.ranked, sample.judgments)};
}

TEST(MetricsPropertyTest, StayInTheUnitIntervalAndAreOneForTheIdealOrder) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    Sample sample = RandomSample(&random);
    for (const double value : All(sample)) {
      EXPECT_GE(value, 0);
      EXPECT_LE(value, 1);
    }
    const auto grade = [&](const std::string& id) {
      const auto judged = sample.judgments.find(id);
      return judged == sample.judgments.end() ? 0 : judged->second;
    };
    std::sort(sample.ranked.begin(), sample.ranked.end(),
              [&](const auto& a, const auto& b) { return grade(a) > grade(b); });
    const std::vector<double> ideal = All(sample);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(ideal[i], 1, 1e-12);
  }
}

TEST(MetricsPropertyTest, MovingARelevantDocumentUpNeverLowersAMeasure) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 300; ++round) {
    Sample sample = RandomSample(&random);
    const std::vector<double> before = All(sample);
    const size_t at = 1 + random() % (sample.ranked.size() - 1);
    const auto grade = [&](size_t i) {
      const auto judged = sample.judgments.find(sample.ranked[i]);
      return judged == sample.judgments.end() ? 0 : std::max(0, judged->second);
    };
    // Binary measures ask for relevant above not relevant, nDCG for any higher grade.
    if (grade(at) == 0 || grade(at - 1) > 0) continue;
    std::swap(sample.ranked[at], sample.ranked[at - 1]);
    const std::vector<double> after = All(sample);
    for (size_t i = 0; i < before.size(); ++i) EXPECT_GE(after[i], before[i] - 1e-12);
  }
}

TEST(BootstrapTest, IntervalHoldsTheMeanAndDependsOnTheSeedOnly) {
  const std::vector<double> values = {0, 0.25, 0.5, 0.75, 1, 1, 0.1, 0.9};
  const Estimate estimate = EstimateMean(values, 7);
  EXPECT_NEAR(estimate.mean, 0.5625, 1e-12);
  EXPECT_LT(estimate.low, estimate.mean);
  EXPECT_GT(estimate.high, estimate.mean);
  EXPECT_EQ(EstimateMean(values, 7).low, estimate.low);
}

TEST(BootstrapTest, EqualValuesHaveNoWidth) {
  const Estimate estimate = EstimateMean({0.5, 0.5, 0.5}, 1);
  EXPECT_EQ(estimate.low, 0.5);
  EXPECT_EQ(estimate.high, 0.5);
  EXPECT_EQ(EstimateMean({}, 1).high, 0);
}

TEST(BootstrapTest, WidthIsAboutThatOfTheNormalInterval) {
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i % 2);
  const Estimate estimate = EstimateMean(values, 3);
  const double half = 1.96 * 0.5 / std::sqrt(400);
  EXPECT_NEAR(estimate.high - estimate.low, 2 * half, 0.2 * half);
}

}  // namespace
}  // namespace search::tools
