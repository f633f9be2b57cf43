// Capsules of a spec: each field, and mistakes by line.

#include "neptune/node/capsule_spec.h"

#include <gtest/gtest.h>

#include "neptune/capsule/capsule_text.h"
#include "neptune/node/cluster_spec.h"

namespace neptune {
namespace {

StatusOr<ClusterSpec> Spec(const std::string& capsules) {
  return ParseClusterSpec(
      "name: 'x' multicast_group: '239.1.1.1:70' "
      "services { name: 'a' module: 'm' } "
      "nodes { name: 'n' hosts { service: 'a' } }\n" +
          capsules,
      "f");
}

std::string Error(const std::string& capsules) {
  return std::string(Spec(capsules).status().message());
}

TEST(CapsuleSpecTest, EachFieldMeansWhatItMeansInACapsuleFile) {
  const ClusterSpec spec =
      Spec(
          "capsules { name: 'c' match: 'service:a/0' match: 'service:b' resident_count_max: 7 "
          "processing_count_max: 3 timeout_ms: 1.000001 throttle_count: 5 low_watermark: 2 "
          "high_watermark: 4 failure_count_max: 6 bypass_share: 0.25 probe_interval_ms: 0.5 "
          "ramp_count: 8 ramp_period_ms: 20 ramp_length: 0 policy: 'priority' class: 'gold' "
          "class: 'tin' migrate_to: 'd' } capsules { name: 'd' match: 'service:d' no_timeout: true "
          "}")
          .value();
  const auto capsules = CapsulesOfSpec(spec.capsules(), "").value();
  const auto same = ParseCapsules(
      "capsule c { match: service:a/0 match: service:b resident_count_max: 7 "
      "processing_count_max: 3 timeout_ms: 1.000001 throttle_count: 5 low_watermark: 2 "
      "high_watermark: 4 failure_count_max: 6 bypass_share: 0.25 probe_interval_ms: 0.5 "
      "ramp_count: 8 ramp_period_ms: 20 ramp_length: 0 policy: priority class: gold "
      "class: tin migrate_to: d } capsule d { match: service:d timeout_ms: none }",
      {"text"}, nullptr);
  ASSERT_TRUE(same.ok()) << same.status();
  ASSERT_EQ(capsules.size(), 2u);
  EXPECT_EQ(FormatCapsule(capsules[0]), FormatCapsule((*same)[0]));
  EXPECT_EQ(FormatCapsule(capsules[1]), FormatCapsule((*same)[1]));
}

TEST(CapsuleSpecTest, TheDefaultCapsuleKeepsItsOwnDefaults) {
  const ClusterSpec spec = Spec("capsules { name: 'default' throttle_count: 5 }").value();
  const auto capsules = CapsulesOfSpec(spec.capsules(), "").value();
  EXPECT_EQ(capsules[0].limits.throttle_count, 5u);
  EXPECT_EQ(capsules[0].limits.timeout, kNoTimeout);
}

TEST(CapsuleSpecTest, APluginIsFoundFromTheFolder) {
  const ClusterSpec spec = Spec(
                               "capsules { name: 'c' match: 'service:a' policy: 'plugin' "
                               "library: 'p.so' parameters: 'a=1' }")
                               .value();
  EXPECT_EQ(CapsulesOfSpec(spec.capsules(), "/etc").value()[0].policy.library, "/etc/p.so");
}

TEST(CapsuleSpecTest, MistakesNameTheLineAndTheCapsule) {
  const std::string good = "capsules { name: 'a' match: 'service:a' }\n";
  EXPECT_EQ(Error(good), "");
  EXPECT_EQ(Error(good + "capsules { name: 'b' match: 'x' }").find("f:3: capsule 'b': match: rule"),
            0u);
  EXPECT_EQ(Error(good + good), "f:3: capsule 'a' is defined twice");
  EXPECT_EQ(Error("capsules { name: 'b' match: 'service:b' timeout_ms: -1 }")
                .find("f:2: capsule 'b': timeout_ms: '-1'"),
            0u);
  EXPECT_EQ(Error("capsules { name: 'b' match: 'service:b' timeout_ms: 1 no_timeout: true }"),
            "f:2: capsule 'b': no_timeout and timeout_ms exclude each other");
  EXPECT_EQ(Error("capsules { name: 'b' match: 'service:b' policy: 'best' }")
                .find("f:2: capsule 'b': policy: 'best' is not fifo"),
            0u);
  EXPECT_NE(Error("capsules { match: 'service:b' }"), "");
  EXPECT_NE(Error("capsules { name: 'b' }"), "");
}

TEST(CapsuleSpecTest, TextsOfOlderSpecsAreRefusedWithTheirLine) {
  EXPECT_EQ(Error("capsules: 'capsule a { match: service:a }'").find("f:2:"), 0u)
      << Error("capsules: 'capsule a { match: service:a }'");
}

}  // namespace
}  // namespace neptune
