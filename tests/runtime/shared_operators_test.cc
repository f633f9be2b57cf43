// Local operators of one server that share a request: what is counted, missing, cut and spread.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/dac/dac.h"
#include "neptune/node/echo_module.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kServers = 2;
constexpr uint32_t kPartitionsEach = 4;

using Conduct = std::function<Status(RequestContext&)>;

// The echo service with a local operator that conducts itself as the test says and then returns the
// partition's number.
class ConductModule final : public ServiceModule {
 public:
  explicit ConductModule(const Conduct& conduct) : conduct_(conduct) {}
  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Number"), {.grain = Grain::kLong},
                             [this](RequestContext& request, const Data&, Data* response) {
                               *response = Data(StrCat(request.partition()));
                               return conduct_(request);
                             });
    return echo_.Start(context);
  }
  std::string implementation() const override { return "conduct"; }

 private:
  const Conduct& conduct_;
  EchoModule echo_;
};

class SharedOperatorsTest : public testing::Test {
 protected:
  void Start(const std::string& echo_fields = "") {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(kServers, 1, echo_fields);
    options.spec.mutable_services(0)->set_partition_count(kServers * kPartitionsEach);
    for (auto& node : *options.spec.mutable_nodes()) {
      if (node.name() == "c") continue;
      const uint32_t first = kPartitionsEach * static_cast<uint32_t>(node.name()[1] - '0');
      node.mutable_hosts(0)->clear_partitions();
      for (uint32_t p = 0; p < kPartitionsEach; ++p) {
        node.mutable_hosts(0)->add_partitions(first + p);
      }
    }
    options.modules = [this](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
      return std::make_unique<ConductModule>(conduct_);
    };
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  Status Run(double quality_min = 1) {
    AggregationRequest request;
    request.service = ServiceName("echo");
    for (uint32_t p = 0; p < kServers * kPartitionsEach; ++p) request.partitions.emplace_back(p);
    request.local = MethodName("Number");
    request.reduce = MethodName("AddNumbers");
    request.aggregation_quality_min = quality_min;
    Status status;
    cluster_->RunOnClient([&](ClientSession& session) {
      request.deadline = this_thread::Now() + seconds(1);
      status = Aggregate(session, request, &result_, &report_);
    });
    return status;
  }
  // Requests that the server has served since the last look, of any outcome.
  double ServedCount(const std::string& server) {
    double count = 0;
    for (const char* outcome : {"ok", "refused", "expired", "cancelled", "failed"}) {
      const auto value = cluster_->node(server).metrics().Value(
          "neptune_requests_total",
          {{"service", "echo"}, {"method", "Number"}, {"outcome", outcome}});
      count += value.value_or(0);
    }
    return count - std::exchange(counted_[server], count);
  }
  std::vector<uint32_t> MissingPartitions() const {
    std::vector<uint32_t> missing;
    for (const MissingPartition& one : report_.missing) missing.push_back(one.partition.value());
    std::sort(missing.begin(), missing.end());
    return missing;
  }

  Conduct conduct_ = [](RequestContext&) { return OkStatus(); };
  std::unique_ptr<SimulatedCluster> cluster_;
  std::map<std::string, double> counted_;
  Data result_;
  AggregationReport report_;
};

TEST_F(SharedOperatorsTest, OnceTheyAreKnownToBeShortOneRequestServesThoseOfAServer) {
  Start();
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(result_.bytes(), "28");
  EXPECT_EQ(ServedCount("s0"), kPartitionsEach);
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(result_.bytes(), "28");
  EXPECT_EQ(report_.contributing_partitions.size(), kServers * kPartitionsEach);
  for (const char* server : {"s0", "s1"}) {
    EXPECT_LE(ServedCount(server), 1 + kPartitionsEach) << server;
    ASSERT_TRUE(Run().ok());
    EXPECT_EQ(ServedCount(server), 1) << server;
  }
}

TEST_F(SharedOperatorsTest, ThoseThatWaitForLongRunBesideEachOther) {
  conduct_ = [](RequestContext& request) {
    return request.SleepUntil(request.Now() + milliseconds(50));
  };
  Start();
  for (int call = 0; call < 2; ++call) {
    ASSERT_TRUE(Run().ok());
    EXPECT_LT(report_.duration, milliseconds(80));
    EXPECT_EQ(ServedCount("s0"), kPartitionsEach);
  }
}

TEST_F(SharedOperatorsTest, ThatOfOnePartitionFailsAlone) {
  Start();
  ASSERT_TRUE(Run().ok());
  conduct_ = [](RequestContext& request) {
    return request.partition() == PartitionId(2) ? DataLoss("asked to fail") : OkStatus();
  };
  ASSERT_TRUE(Run(/*quality_min=*/0.1).ok());
  EXPECT_EQ(result_.bytes(), "26");
  EXPECT_EQ(MissingPartitions(), std::vector<uint32_t>{2});
  EXPECT_EQ(report_.missing.at(0).reason.code(), StatusCode::kDataLoss);
}

TEST_F(SharedOperatorsTest, EachSeesItsOwnPartition) {
  Start();
  std::multiset<uint32_t> seen;
  conduct_ = [&seen](RequestContext& request) {
    seen.insert(request.partition().value());
    return OkStatus();
  };
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(Run().ok());
  for (uint32_t p = 0; p < kServers * kPartitionsEach; ++p) EXPECT_EQ(seen.count(p), 2u) << p;
}

TEST_F(SharedOperatorsTest, DeadlineCostsOnlyThosePartitionsThatHaveNotRun) {
  Start();
  ASSERT_TRUE(Run().ok());
  conduct_ = [](RequestContext& request) {
    if (request.partition() != PartitionId(1)) return OkStatus();
    return request.SleepUntil(request.Now() + seconds(10));
  };
  ASSERT_TRUE(Run(/*quality_min=*/0.1).ok());
  EXPECT_EQ(MissingPartitions(), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(result_.bytes(), "22") << "0 has ended although the request that it shared has not";
}

TEST_F(SharedOperatorsTest, TimeLimitMarksThoseThatItCutAndNoOthers) {
  Start("time_limit { lower_bound_ms: 50 upper_bound_ms: 50 }");
  ASSERT_TRUE(Run().ok());
  (void)ServedCount("s0");
  conduct_ = [](RequestContext& request) {
    while (request.partition() == PartitionId(1) && !request.ShouldStop()) {
      this_thread::SleepFor(milliseconds(1));
    }
    return OkStatus();
  };
  ASSERT_TRUE(Run(/*quality_min=*/0.1).ok());
  EXPECT_EQ(ServedCount("s0"), 1) << "they share a request";
  EXPECT_EQ(report_.ended_early,
            (std::vector<PartitionId>{PartitionId(1), PartitionId(2), PartitionId(3)}));
  EXPECT_EQ(MissingPartitions(), (std::vector<uint32_t>{2, 3})) << "1 has what it found until then";
  EXPECT_EQ(result_.bytes(), "23");
}

TEST_F(SharedOperatorsTest, CallerThatLeavesEndsTheRest) {
  Start();
  ASSERT_TRUE(Run().ok());
  int begun = 0;
  conduct_ = [&begun](RequestContext& request) {
    ++begun;
    return request.SleepUntil(request.Now() + seconds(10));
  };
  cluster_->SpawnOnClient([&](ClientSession& session) {
    AggregationRequest request;
    request.service = ServiceName("echo");
    for (uint32_t p = 0; p < kPartitionsEach; ++p) request.partitions.emplace_back(p);
    request.local = MethodName("Number");
    request.reduce = MethodName("AddNumbers");
    Data result;
    AggregationReport report;
    (void)Aggregate(session, request, &result, &report);
  });
  cluster_->simulator().RunFor(milliseconds(100));
  EXPECT_EQ(begun, 1);
  cluster_->simulator().Crash("c", CrashKind::kProcess);
  cluster_->simulator().RunFor(milliseconds(100));
  EXPECT_EQ(begun, 1) << "nothing more begins for a caller that is gone";
}

}  // namespace
}  // namespace neptune
