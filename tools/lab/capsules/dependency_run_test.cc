// Runs of the capsule paper's services: distribution of work, lost requests, and replay by seed.

#include "tools/lab/capsules/dependency_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tools/lab/capsules/dependency_figures.h"

namespace search::lab {
namespace {

constexpr double kDurationS = 8;

DependencyOptions Short(DependencyService service, double rate_per_s) {
  DependencyOptions options;
  options.service = std::move(service);
  options.scheme = {.isolation = Isolation::kCapsules};
  options.rate_per_s = rate_per_s;
  options.warm_up_s = 2;
  options.duration_s = kDurationS;
  return options;
}

DependencyOptions ShortRet() {
  return Short(RetService({.partition_ms = RetPartitionMs(kRetRate, kRetLoadShare)}), kRetRate);
}

DependencyResult RunOrDie(const DependencyOptions& options) {
  auto result = RunDependency(options);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

TEST(DependencyRunTest, EveryServiceAnswersWhileNothingFails) {
  for (const DependencyOptions& options :
       {ShortRet(), Short(AucService(), kAucRate), Short(BbsService(), kBbsRate)}) {
    const DependencyResult result = RunOrDie(options);
    const std::string& name = options.service.name;
    EXPECT_GT(result.outcomes.size(), 0.7 * options.rate_per_s * kDurationS) << name;
    EXPECT_EQ(result.LossPercent(0, kDurationS), 0) << name;
    EXPECT_EQ(result.QualityLossPercent(0, kDurationS), 0) << name;
    EXPECT_GT(result.MeanMs(0, kDurationS), 10) << name;
    EXPECT_LT(result.MeanMs(0, kDurationS), 500) << name;
  }
}

TEST(DependencyRunTest, OneSeedIsOneRun) {
  const DependencyResult once = RunOrDie(ShortRet());
  const DependencyResult again = RunOrDie(ShortRet());
  ASSERT_EQ(once.outcomes.size(), again.outcomes.size());
  for (size_t i = 0; i < once.outcomes.size(); ++i) {
    EXPECT_EQ(once.outcomes[i].response_s, again.outcomes[i].response_s) << i;
  }
}

TEST(DependencyRunTest, EverySchemeGetsTheSameRequests) {
  DependencyOptions options = ShortRet();
  std::vector<double> arrivals;
  for (const Isolation isolation :
       {Isolation::kBoundedPool, Isolation::kUnboundedPool, Isolation::kCapsules}) {
    options.scheme.isolation = isolation;
    std::vector<double> these;
    for (const DependencyOutcome& one : RunOrDie(options).outcomes) these.push_back(one.arrived_s);
    std::sort(these.begin(), these.end());
    if (arrivals.empty()) arrivals = these;
    EXPECT_EQ(these, arrivals);
  }
  for (const DependencyService& service : {options.service, AucService(), BbsService()}) {
    for (uint64_t number = 0; number < 20; ++number) {
      EXPECT_EQ(service.request(3, number).data.bytes(), service.request(3, number).data.bytes());
      EXPECT_NE(service.request(3, number).data.bytes(), service.request(4, number).data.bytes());
    }
  }
}

TEST(DependencyRunTest, ASmallPoolIsTakenByWhatWaitsAndCapsulesAreNot) {
  DependencyOptions options = ShortRet();
  options.script = *workload::ParseScript("2s pause partition-1");
  options.scheme = {.isolation = Isolation::kBoundedPool, .pool = kDependencySmallPool};
  EXPECT_GT(RunOrDie(options).LossPercent(4, kDurationS), 50);
  options.scheme = {.isolation = Isolation::kCapsules};
  const DependencyResult ours = RunOrDie(options);
  EXPECT_LT(ours.LossPercent(4, kDurationS), 5);
  EXPECT_NEAR(ours.QualityLossPercent(4, kDurationS), 100.0 / 3, 4);
}

TEST(DependencyRunTest, ACutIsSilentUntilItIsDetected) {
  DependencyOptions options = Short(AucService(), kAucRate);
  options.cut = {"store-1", 1};
  options.detection = std::chrono::seconds(3);
  const DependencyResult result = RunOrDie(options);
  EXPECT_GT(result.LossPercent(1, 2), 10);
  EXPECT_EQ(result.LossPercent(5, kDurationS), 0);
}

TEST(DependencyRunTest, TwoThirdsOfThePagesAreFoundInTheCaches) {
  DependencyOptions options = Short(BbsService(), kBbsRate);
  options.warm_up_s = kBbsWarmUpS;
  EXPECT_NEAR(RunOrDie(options).HitPercent(0, kDurationS), 68, 6);
}

TEST(DependencyRunTest, RefusesFaultsOfNodesThatThereAreNot) {
  DependencyOptions options = ShortRet();
  options.script = *workload::ParseScript("2s pause partition-7");
  EXPECT_EQ(RunDependency(options).status().code(), neptune::StatusCode::kInvalidArgument);
  options.script.clear();
  options.cut = {"partition-7", 1};
  EXPECT_EQ(RunDependency(options).status().code(), neptune::StatusCode::kInvalidArgument);
}

TEST(DependencyResultTest, CountsByArrivalAndAnswersByTheirTime) {
  DependencyResult result;
  result.outcomes = {
      {.arrived_s = 0.5, .response_s = 0.1, .answered = true, .quality = 1},
      {.arrived_s = 0.9, .response_s = 0.3, .answered = true, .quality = 0.5, .from_cache = true},
      {.arrived_s = 0.7, .response_s = 2.0},
      {.arrived_s = 1.5, .response_s = 0.1, .answered = true, .quality = 1}};
  EXPECT_NEAR(result.LossPercent(0, 1), 100.0 / 3, 1e-9);
  EXPECT_NEAR(result.QualityLossPercent(0, 1), 50, 1e-9);
  EXPECT_NEAR(result.MeanMs(0, 1), 200, 1e-9);
  EXPECT_NEAR(result.HitPercent(0, 1), 50, 1e-9);
  EXPECT_NEAR(result.AnsweredPerSecond(0, 1), 1, 1e-9);
  EXPECT_NEAR(result.AnsweredPerSecond(1, 2), 2, 1e-9);
  EXPECT_NEAR(result.QualityPerSecond(1, 2), 1.5, 1e-9);
  EXPECT_EQ(result.LossPercent(5, 6), 0);
}

TEST(DependencyFiguresTest, TheBestPoolIsTheOneThatLosesLeast) {
  Results results(Length::kFull);
  results.Add(DependencyPoint("BTP", 8), {{"loss_percent_during", 50}});
  results.Add(DependencyPoint("BTP", 64), {{"loss_percent_during", 10}});
  results.Add(DependencyPoint("BTP", 128), {{"loss_percent_during", 20}});
  results.Add(DependencyPoint("DC", 4), {{"loss_percent_during", 0}});
  EXPECT_EQ(BestPool(results, "loss_percent_during"), DependencyPoint("BTP", 64));
  const auto shown = ShownPoints(results, "loss_percent_during", {"DC"});
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(DependencyName(shown[0]), "BTP, 8 threads");
  EXPECT_EQ(DependencyName(shown[1]), "BTP, 64 threads");
  EXPECT_EQ(DependencyName(shown[2]), "DC");
}

}  // namespace
}  // namespace search::lab
