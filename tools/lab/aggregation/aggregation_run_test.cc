#include "tools/lab/aggregation/aggregation_run.h"

#include <gtest/gtest.h>

#include <numeric>

#include "neptune/base/strings.h"
#include "neptune/service/node_loops.h"

namespace search::lab {
namespace {

using neptune::StrCat;
using neptune::TreeScheme;
using std::chrono::milliseconds;
using std::chrono::seconds;

AggregationLoadOptions LightLoad() {
  AggregationLoadOptions load;
  load.rate_per_s = 10;
  load.warm_up = seconds(1);
  load.duration = seconds(5);
  return load;
}

AggregationClusterOptions SmallCluster() {
  AggregationClusterOptions options;
  options.server_count = 6;
  options.client_count = 2;
  return options;
}

TEST(AggregationProfileTest, IdealRatesAreTheFormula) {
  EXPECT_NEAR(MicroProfile().IdealRate(24, 2), 24 * 2 / (24 * 0.025 + 23 * 0.005), 1e-9);
  EXPECT_NEAR(RetProfile().IdealRate(24, 2), 19.6, 0.1);
}

TEST(AggregationRunTest, EverySchemeGetsTheSameWork) {
  neptune::Duration work{0};
  for (const TreeScheme scheme :
       {TreeScheme::kBase, TreeScheme::kFlat, TreeScheme::kBinomial, TreeScheme::kLoadAdaptive}) {
    AggregationCluster cluster(SmallCluster());
    AggregationLoadOptions load = LightLoad();
    load.scheme = scheme;
    const AggregationRunResult result = RunAggregations(cluster, load, 7);
    EXPECT_EQ(result.FullShare(), 1) << Name(scheme);
    EXPECT_EQ(result.client_time > neptune::Duration(0), scheme == TreeScheme::kBase);
    const neptune::Duration all = result.server_time + result.client_time;
    if (work == neptune::Duration(0)) work = all;
    EXPECT_EQ(all, work) << Name(scheme);
  }
}

TEST(AggregationRunTest, ServersWhoseThreadsWaitGiveTheSameResults) {
  for (const TreeScheme scheme :
       {TreeScheme::kBase, TreeScheme::kFlat, TreeScheme::kBinomial, TreeScheme::kLoadAdaptive}) {
    AggregationClusterOptions options = SmallCluster();
    options.concurrency = 8;
    AggregationLoadOptions load = LightLoad();
    load.scheme = scheme;
    AggregationCluster with_events(options);
    options.threads_wait = true;
    AggregationCluster with_threads(options);
    const AggregationRunResult expected = RunAggregations(with_events, load, 7);
    const AggregationRunResult result = RunAggregations(with_threads, load, 7);
    EXPECT_EQ(result.FullShare(), 1) << Name(scheme);
    EXPECT_EQ(result.server_time, expected.server_time) << Name(scheme);
    EXPECT_EQ(result.AnsweredTime(), expected.AnsweredTime()) << Name(scheme);
  }
}

TEST(AggregationRunTest, ServersWhoseThreadsWaitSurviveFaults) {
  AggregationClusterOptions options = SmallCluster();
  options.concurrency = 8;
  options.threads_wait = true;
  AggregationCluster cluster(options);
  const auto script =
      workload::ParseScript("1s pause s1; 2s crash s3; 3s restart s3; 4s resume s1");
  ASSERT_TRUE(script.ok());
  ASSERT_TRUE(cluster.Schedule(*script).ok());
  AggregationLoadOptions load = LightLoad();
  load.timeout = milliseconds(500);
  load.warm_up = seconds(0);
  load.duration = seconds(12);
  const AggregationRunResult result = RunAggregations(cluster, load, 4);
  for (const AggregationOutcome& one : result.outcomes) {
    EXPECT_LE(one.response, load.timeout + milliseconds(5));
    if (one.arrived > seconds(9)) {
      EXPECT_EQ(one.quality, 1);
    }
  }
  for (int i = 0; i < cluster.server_count(); ++i) {
    EXPECT_EQ(cluster.server(i).PendingAggregationWork(), neptune::Duration(0)) << StrCat("s", i);
  }
}

TEST(AggregationRunTest, SameSeedGivesTheSameRun) {
  const auto run = [] {
    AggregationCluster cluster(SmallCluster());
    (void)RunAggregations(cluster, LightLoad(), 3);
    return cluster.simulator().trace_hash();
  };
  EXPECT_EQ(run(), run());
}

TEST(AggregationRunTest, MeasuredLoadIsWhatTheServersHave) {
  AggregationClusterOptions options = SmallCluster();
  options.load_information = LoadInformation::kMeasured;
  AggregationCluster cluster(options);
  EXPECT_EQ(RunAggregations(cluster, LightLoad(), 5).FullShare(), 1);
  for (int i = 0; i < cluster.server_count(); ++i) {
    EXPECT_EQ(cluster.server(i).PendingAggregationWork(), neptune::Duration(0)) << StrCat("s", i);
  }
}

TEST(AggregationRunTest, PausedServerCostsItsPartitionWhileItIsPaused) {
  AggregationCluster cluster(SmallCluster());
  const auto script = workload::ParseScript("2s pause s3; 4s resume s3");
  ASSERT_TRUE(script.ok());
  ASSERT_TRUE(cluster.Schedule(*script).ok());
  AggregationLoadOptions load = LightLoad();
  load.profile.reduce_ms = 0.1;  // far below what stages leave between deadlines
  load.timeout = milliseconds(500);
  load.warm_up = seconds(0);
  load.duration = seconds(8);
  const AggregationRunResult result = RunAggregations(cluster, load, 2);
  for (const AggregationOutcome& one : result.outcomes) {
    const neptune::Duration end = one.arrived + one.response;
    if (end < seconds(2) || one.arrived > seconds(4)) {
      EXPECT_EQ(one.quality, 1);
    } else if (one.arrived > seconds(2) && end < seconds(4)) {
      EXPECT_NEAR(one.quality, 5.0 / 6, 1e-9);
    }
  }
  const std::vector<double> series = result.QualitySeries(seconds(2));
  const double sum = std::accumulate(series.begin(), series.end(), 0.0);
  EXPECT_NEAR(2 * sum / 8, result.QualityRate(), 1e-9);
}

TEST(AggregationRunTest, QuadNodeDoesMoreThanDualOnes) {
  AggregationClusterOptions options = SmallCluster();
  options.server_count = 2;
  options.other_processors[1] = {.count = 4, .speed = kQuadSpeed};
  AggregationCluster cluster(options);
  EXPECT_EQ(cluster.server(0).loops().world().processors().count(), 2);
  EXPECT_EQ(cluster.server(1).loops().world().processors().count(), 4);
}

TEST(AggregationRunTest, ScriptThatNamesNoNodeIsRefused) {
  AggregationCluster cluster(SmallCluster());
  for (const char* text : {"1s pause s6", "1s hang s0"}) {
    const auto script = workload::ParseScript(text);
    ASSERT_TRUE(script.ok());
    EXPECT_EQ(cluster.Schedule(*script).code(), neptune::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace search::lab
