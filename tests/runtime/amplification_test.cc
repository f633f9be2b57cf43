// How many requests reach the lowest of three tiers for one at the top when everything there fails.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "neptune/base/strings.h"
#include "neptune/service/loop_client.h"
#include "neptune/testing/simulated_cluster.h"

namespace neptune {
namespace {

using std::chrono::seconds;

constexpr int kTierCount = 3;

// Calls the tier below, and fails if it does; the lowest always fails.
class ChainModule final : public ServiceModule {
 public:
  explicit ChainModule(int* lowest_count) : lowest_count_(*lowest_count) {}

  Status Start(ModuleContext& context) override {
    const std::string own = context.service.value();
    const std::string next = own == "tier0" ? "tier1" : "tier2";
    Client& client = context.client;
    context.registrar.Method(
        MethodName("Go"), {},
        [this, own, next, &client](RequestContext& request, const Data& in, Data* out) -> Status {
          if (own == "tier2") {
            ++lowest_count_;
            return Unavailable("as always");
          }
          ClientSession session(client, request);
          return Call(session,
                      {ServiceName(next), PartitionId(0), MethodName("Go"), AccessMode::kRead}, in,
                      out);
        });
    return OkStatus();
  }
  std::string implementation() const override { return "chain"; }

 private:
  int& lowest_count_;
};

class AmplificationTest : public testing::Test {
 protected:
  AmplificationTest() {
    std::string text = "name: 'test' multicast_group: '239.192.7.1:7400' balancing: 'round_robin' ";
    std::string hosts;
    for (int tier = 0; tier < kTierCount; ++tier) {
      StrAppend(&text, "services { name: 'tier", tier,
                "' module: 'chain' queue_length_max: 10000 concurrency: 10000 } ");
      StrAppend(&hosts, "hosts { service: 'tier", tier, "' } ");
    }
    StrAppend(&text, "services { name: 'idle' module: 'chain' } ",
              "nodes { name: 'c' hosts { service: 'idle' } } ");
    for (int node = 0; node < 4; ++node) {
      StrAppend(&text, "nodes { name: 's", node, "' ", hosts, "} ");
    }
    SimulatedClusterOptions options;
    options.spec = *ParseClusterSpec(text, "test");
    options.modules = [this](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
      return std::make_unique<ChainModule>(&lowest_count_);
    };
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  Status Ask() {
    Status status;
    cluster_->RunOnClient([&](ClientSession& session) {
      Data response;
      status =
          Call(session, {ServiceName("tier0"), PartitionId(0), MethodName("Go"), AccessMode::kRead},
               Data("x"), &response);
    });
    return status;
  }

  int lowest_count_ = 0;
  std::unique_ptr<SimulatedCluster> cluster_;
};

TEST_F(AmplificationTest, OneRequestIsNotMultipliedByTheTries) {
  EXPECT_EQ(Ask().code(), StatusCode::kUnavailable);
  const int attempts = CallOptions().attempts_max;
  EXPECT_GT(lowest_count_, 1) << "it is retried";
  EXPECT_LE(lowest_count_, 1 + kTierCount * (attempts - 1)) << "and not attempts^tiers";
}

TEST_F(AmplificationTest, ManyRequestsGrowByLittleMoreThanTheBudget) {
  constexpr int kRequestCount = 4000;
  for (int i = 0; i < kRequestCount; ++i) EXPECT_EQ(Ask().code(), StatusCode::kUnavailable);
  // Each loop's budget for a service begins with a reserve: the client's, and those of four nodes
  // for two tiers, whose nodes have a serving and a worker loop each.
  const ClientOptions defaults;
  const double share = 1 + defaults.retry_share;
  const double reserves = static_cast<double>(defaults.retry_reserve) * (1 + 4 * 2 * 2);
  EXPECT_LE(lowest_count_, kRequestCount * share * share * share + reserves);
  EXPECT_GT(lowest_count_, kRequestCount);
}

}  // namespace
}  // namespace neptune
