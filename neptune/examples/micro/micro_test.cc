// MICRO in both worlds: every partition is in the sum once, and every order of reductions does the
// same work.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "neptune/examples/micro/micro_aggregation.h"
#include "neptune/examples/micro/micro_module.h"
#include "neptune/examples/micro/micro_work.h"
#include "neptune/examples/testing/example_cluster.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kPartitionCount = 16;

MicroResult ResultOf(uint32_t partition, const MicroRequest& request) {
  MicroResult result;
  result.set_partition_sum(partition);
  result.set_partition_count(1);
  result.set_least_partition(partition);
  result.set_local_ns(
      static_cast<uint64_t>(MicroLocalTime(request, PartitionId(partition)).count()));
  return result;
}

// The result of any aggregation over all partitions.
MicroResult Expected(const MicroRequest& request) {
  MicroResult all = ResultOf(0, request);
  for (uint32_t p = 1; p < kPartitionCount; ++p) {
    all = CombineMicroResults(all, ResultOf(p, request), MicroReduceTime(request, PartitionId(p)));
  }
  return all;
}

ExampleClusterOptions Cluster(uint32_t node_count) {
  ExampleClusterOptions options;
  options.service = "micro";
  options.partition_count = kPartitionCount;
  options.node_count = node_count;
  options.module = [] { return std::make_unique<MicroModule>(); };
  options.register_operators = RegisterMicroReduce;
  return options;
}

Status Ask(ClientSession& session, const MicroRequest& request, Duration timeout,
           MicroResult* result, AggregationReport* report) {
  Data data;
  AggregationRequest aggregation = MicroAggregation(ServiceName("micro"), kPartitionCount, request,
                                                    this_thread::Now() + timeout);
  aggregation.aggregation_quality_min = 1.0 / kPartitionCount;
  NEPTUNE_RETURN_IF_ERROR(Aggregate(session, aggregation, &data, report));
  NEPTUNE_ASSIGN_OR_RETURN(const MicroResult* const got, data.As<MicroResult>());
  *result = *got;
  return OkStatus();
}

TEST(MicroWorkTest, TimesAreExponentialWithTheMeansOfTheRequest) {
  double local = 0;
  double local_squares = 0;
  double reduce = 0;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    const MicroRequest request = MakeMicroRequest(static_cast<uint64_t>(i) / 16);
    const PartitionId partition(static_cast<uint32_t>(i) % 16);
    const double time = ToMillis(MicroLocalTime(request, partition));
    local += time / kCount;
    local_squares += time * time / kCount;
    reduce += ToMillis(MicroReduceTime(request, partition)) / kCount;
  }
  EXPECT_NEAR(local, 25, 0.5);
  EXPECT_NEAR(std::sqrt(local_squares - local * local), 25, 0.5);
  EXPECT_NEAR(reduce, 5, 0.1);
}

TEST(MicroWorkTest, HeavyTailedTimesHaveTheirMeanAndCommonFactor) {
  MicroRequest request = MakeMicroRequest(0);
  request.set_request_log_deviation(0.8);
  request.set_partition_log_deviation(0.6);
  constexpr int kCount = 200'000;
  double mean = 0;
  double log_sum = 0;
  double log_squares = 0;
  double log_products = 0;
  for (int i = 0; i < kCount; ++i) {
    request.set_seed(static_cast<uint64_t>(i));
    const double first = ToMillis(MicroLocalTime(request, PartitionId(0)));
    const double second = ToMillis(MicroLocalTime(request, PartitionId(1)));
    mean += first / kCount;
    log_sum += std::log(first) / kCount;
    log_squares += std::log(first) * std::log(first) / kCount;
    log_products += std::log(first) * std::log(second) / kCount;
  }
  EXPECT_NEAR(mean, 25, 0.5);
  EXPECT_NEAR(log_squares - log_sum * log_sum, 0.64 + 0.36, 0.02);
  EXPECT_NEAR(log_products - log_sum * log_sum, 0.64, 0.02);
}

TEST(MicroWorkTest, ImpossibleDeviationsAreRefused) {
  for (const double deviation : {-0.1, 3.1, std::nan("")}) {
    MicroRequest request = MakeMicroRequest(1);
    request.set_request_log_deviation(deviation);
    EXPECT_EQ(ValidateMicroRequest(request).code(), StatusCode::kInvalidArgument) << deviation;
  }
}

TEST(MicroWorkTest, EveryOrderOfReductionsDoesTheSameWork) {
  const MicroRequest request = MakeMicroRequest(7);
  const std::string expected = Expected(request).SerializeAsString();
  RandomSource random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<MicroResult> parts;
    for (uint32_t p = 0; p < kPartitionCount; ++p) parts.push_back(ResultOf(p, request));
    while (parts.size() > 1) {
      std::shuffle(parts.begin(), parts.end(), random);
      const MicroResult a = parts.back();
      parts.pop_back();
      parts.back() =
          CombineMicroResults(a, parts.back(), MicroReduceTime(request, TakenIn(a, parts.back())));
    }
    ASSERT_EQ(parts[0].SerializeAsString(), expected) << "round " << round;
  }
}

TEST(MicroTest, SumsEveryPartitionOnceInTheSimulatedWorld) {
  SimulatedExample cluster(Cluster(4));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const MicroRequest request = MakeMicroRequest(seed);
    cluster.RunOnClient([&](ClientSession& session) {
      MicroResult result;
      AggregationReport report;
      const Status status = Ask(session, request, seconds(10), &result, &report);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(result.SerializeAsString(), Expected(request).SerializeAsString()) << seed;
    });
  }
}

TEST(MicroTest, UsesTheReportedVirtualTime) {
  SimulatedExample cluster(Cluster(1));
  const MicroRequest request = MakeMicroRequest(3);
  cluster.RunOnClient([&](ClientSession& session) {
    const TimePoint begin = this_thread::Now();
    MicroResult result;
    AggregationReport report;
    ASSERT_TRUE(Ask(session, request, seconds(10), &result, &report).ok());
    // All local operators share the one server's two processors.
    EXPECT_GE(this_thread::Now() - begin, Duration(result.local_ns() / 2));
  });
}

TEST(MicroTest, AnswersPartiallyAtTheDeadline) {
  SimulatedExample cluster(Cluster(16));
  MicroRequest request = MakeMicroRequest(11);
  request.set_reduce_mean_ns(0);
  cluster.RunOnClient([&](ClientSession& session) {
    MicroResult result;
    AggregationReport report;
    const Status status = Ask(session, request, milliseconds(20), &result, &report);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_LT(result.partition_count(), kPartitionCount);
    EXPECT_EQ(result.partition_count(), report.contributing_partitions.size());
    uint64_t sum = 0;
    for (const PartitionId& partition : report.contributing_partitions) sum += partition.value();
    EXPECT_EQ(result.partition_sum(), sum);
  });
}

TEST(MicroTest, SlicedWorkEndsSoonAfterTheDeadlineAndWholeWorkDoesNot) {
  for (const bool sliced : {true, false}) {
    SimulatedExample cluster(Cluster(1));
    MicroRequest request = MakeMicroRequest(5);
    request.set_local_mean_ns(2'000'000'000);
    if (sliced) request.set_slice_ns(1'000'000);
    cluster.RunOnClient([&](ClientSession& session) {
      MicroResult result;
      AggregationReport report;
      EXPECT_EQ(Ask(session, request, milliseconds(50), &result, &report).code(),
                StatusCode::kUnavailable);
    });
    cluster.simulator().RunFor(milliseconds(50));
    EXPECT_EQ(cluster.node("s0").LoadIndex() == 0, sliced);
  }
}

TEST(MicroTest, RefusesMeansOverTheLimit) {
  SimulatedExample cluster(Cluster(1));
  MicroRequest request = MakeMicroRequest(5);
  request.set_local_mean_ns(static_cast<uint64_t>(kMicroMeanMax.count()) + 1);
  cluster.RunOnClient([&](ClientSession& session) {
    MicroResult result;
    AggregationReport report;
    EXPECT_FALSE(Ask(session, request, seconds(1), &result, &report).ok());
    ASSERT_EQ(report.missing.size(), kPartitionCount);
    EXPECT_EQ(report.missing[0].reason.code(), StatusCode::kInvalidArgument);
  });
}

TEST(MicroTest, SumsEveryPartitionOnceInTheRealWorld) {
  RealExample cluster(Cluster(2));
  MicroRequest request = MakeMicroRequest(2);
  request.set_local_mean_ns(1'000'000);
  request.set_reduce_mean_ns(200'000);
  cluster.RunOnClient([&](ClientSession& session) {
    MicroResult result;
    AggregationReport report;
    const Status status = Ask(session, request, seconds(30), &result, &report);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(result.SerializeAsString(), Expected(request).SerializeAsString());
  });
}

}  // namespace
}  // namespace neptune::examples
