#include "neptune/node/start_policy.h"

#include <gtest/gtest.h>

#include "neptune/world/network.h"

namespace neptune {
namespace {

constexpr uint32_t kOther = 0x0a000001;  // 10.0.0.1

ClusterSpec Spec(bool key, bool tls, bool trust) {
  ClusterSpec spec;
  if (key) spec.set_cluster_key_file("key");
  if (tls) spec.mutable_node_tls()->set_key_file("key.pem");
  spec.set_trust_network(trust);
  return spec;
}

TEST(StartPolicyTest, ANetworkNeedsAKeyOrTrust) {
  EXPECT_EQ(CheckStart(Spec(false, false, false), {.address = kOther}).code(),
            StatusCode::kFailedPrecondition);
  EXPECT_TRUE(CheckStart(Spec(true, false, false), {.address = kOther}).ok());
  EXPECT_TRUE(CheckStart(Spec(false, false, true), {.address = kOther}).ok());
}

TEST(StartPolicyTest, TheRefusalNamesAddressAndRemedies) {
  const Status status = CheckStart(Spec(false, false, false), {.address = kOther});
  for (const char* const part : {"at 10.0.0.1 ", "cluster_key_file", "trust_network: true"}) {
    EXPECT_NE(status.message().find(part), absl::string_view::npos) << status;
  }
}

TEST(StartPolicyTest, LoopbackNeedsNothing) {
  for (const uint32_t address : {kLoopbackAddress, kLoopbackAddress + 5, 0x7fffffffu}) {
    EXPECT_TRUE(CheckStart(Spec(false, false, false), {.address = address, .is_root = true}).ok());
  }
  EXPECT_FALSE(CheckStart(Spec(false, false, false), {.address = 0x80000001}).ok());
}

TEST(StartPolicyTest, RootIsForLoopbackUnlessItIsAllowed) {
  EXPECT_FALSE(CheckStart(Spec(true, true, false), {.address = kOther, .is_root = true}).ok());
  EXPECT_FALSE(CheckStart(Spec(false, false, true), {.address = kOther, .is_root = true}).ok())
      << "the network is trusted, not the program";
  EXPECT_TRUE(
      CheckStart(Spec(true, true, false), {.address = kOther, .is_root = true, .allows_root = true})
          .ok());
}

TEST(StartPolicyTest, WarnsOfRootAndOfCallsInClear) {
  const auto count = [](const ClusterSpec& spec, const StartSurroundings& surroundings) {
    return StartWarnings(spec, surroundings).size();
  };
  EXPECT_EQ(count(Spec(true, true, false), {.address = kOther}), 0u);
  EXPECT_EQ(count(Spec(true, false, false), {.address = kOther}), 1u);
  EXPECT_EQ(count(Spec(true, false, true), {.address = kOther}), 0u);
  EXPECT_EQ(count(Spec(false, false, false), {.address = kLoopbackAddress}), 0u);
  EXPECT_EQ(count(Spec(false, false, false), {.address = kLoopbackAddress, .is_root = true}), 1u);
}

}  // namespace
}  // namespace neptune
