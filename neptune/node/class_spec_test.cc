#include "neptune/node/class_spec.h"

#include <gtest/gtest.h>

#include "neptune/base/same_secret.h"
#include "neptune/node/cluster_spec.h"

namespace neptune {
namespace {

constexpr char kNetwork[] = "name: 'c' multicast_group: '239.192.7.9:7409'\n";
constexpr char kNodes[] = "nodes { name: 'n' hosts { service: 'index' } }\n";

StatusOr<ClusterSpec> Parse(const std::string& classes, const std::string& service_fields = "") {
  return ParseClusterSpec(kNetwork + classes + "services { name: 'index' module: 'm' " +
                              service_fields + " }\n" + kNodes,
                          "spec");
}

constexpr char kClasses[] = R"(
service_classes { name: 'gold' yield { form: 'hybrid' full: 4 at_deadline: 2 } guarantee: 0.2
                  api_keys: 'gold-key-1' }
service_classes { name: 'silver' yield { form: 'table' points { response_ms: 100 yield: 2 }
                                         points { response_ms: 500 yield: 1 } } queue_length_max: 7 }
service_classes { name: 'bronze' }
)";

TEST(ClassSpecTest, WithoutClassesThereIsOneFirstComeFirstServed) {
  const ClusterSpec spec = Parse("").value();
  const SchedulerOptions options = SchedulerOptionsOf(spec, spec.services(0), 2);
  ASSERT_EQ(options.classes.size(), 1u);
  EXPECT_EQ(options.classes[0].queue_length_max, 40u);
  EXPECT_EQ(options.policy, SchedulingPolicy::kFifo);
  EXPECT_FALSE(options.drop_share);
  EXPECT_EQ(options.capacity, 2);
}

TEST(ClassSpecTest, ClassesAsTheyAreWritten) {
  const ClusterSpec spec = Parse(kClasses, "queue_length_max: 9 drop_share: 0.1").value();
  const SchedulerOptions options = SchedulerOptionsOf(spec, spec.services(0), 1);
  ASSERT_EQ(options.classes.size(), 3u);
  EXPECT_EQ(options.classes[0].name, "gold");
  EXPECT_EQ(options.classes[0].guarantee, 0.2);
  EXPECT_EQ(options.classes[0].queue_length_max, 9u);
  EXPECT_EQ(options.classes[0].yield->At(std::chrono::milliseconds(1500)), 3);
  EXPECT_EQ(options.classes[1].queue_length_max, 7u);
  EXPECT_EQ(options.classes[1].yield->At(std::chrono::milliseconds(300)), 1.5);
  EXPECT_FALSE(options.classes[2].yield);
  EXPECT_EQ(options.default_class, 2u) << "the last";
  EXPECT_EQ(options.policy, SchedulingPolicy::kAdaptive);
  EXPECT_EQ(options.drop_share, 0.1);
  EXPECT_EQ(ClassesOfApiKeyHashes(spec),
            (std::map<std::string, std::string>{{ApiKeyHash("gold-key-1"), "gold"}}));
}

TEST(ClassSpecTest, KeysMayBeGivenAsHashes) {
  const std::string hash = ApiKeyHash("gold-key-2");
  const ClusterSpec spec =
      Parse("service_classes { name: 'a' api_keys: 'gold-key-1' api_key_sha256: '" + hash + "' }")
          .value();
  EXPECT_EQ(ClassesOfApiKeyHashes(spec),
            (std::map<std::string, std::string>{{ApiKeyHash("gold-key-1"), "a"}, {hash, "a"}}));
}

TEST(ClassSpecTest, ThreadsAndRules) {
  const ClusterSpec spec = Parse(kClasses,
                                 "concurrency: 10 threads { service_class: 'silver' count: 4 } "
                                 "class_rules { service_class: 'gold' method: 'M' partitions: 0 }")
                               .value();
  const ThreadShares shares = ThreadSharesOf(spec, spec.services(0));
  EXPECT_EQ(shares.all, 10u);
  EXPECT_EQ(shares.own, (std::vector<std::optional<size_t>>{std::nullopt, 4, std::nullopt}));
  const std::vector<ClassRule> rules = ClassRulesOf(spec, spec.services(0));
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].service_class, 0u);
  EXPECT_EQ(rules[0].method, "M");
  EXPECT_EQ(rules[0].partitions, std::vector<PartitionId>{PartitionId(0)});
}

// Each is refused with what is wrong.
TEST(ClassSpecTest, WhatCannotBe) {
  const auto why = [](const std::string& classes, const std::string& service_fields = "") {
    const auto spec = Parse(classes, service_fields);
    return spec.ok() ? "" : spec.status().ToString();
  };
  const auto one = [](const std::string& fields) {
    return "service_classes { name: 'a' " + fields + " }\n";
  };
  const std::pair<std::string, const char*> faults[] = {
      {why(one("guarantee: 0.6") + "service_classes { name: 'b' guarantee: 0.6 }"), "limit 1"},
      {why(one("guarantee: -0.1")), "expected [0, 1]"},
      {why(one("yield { form: 'table' points { response_ms: 1 yield: 1 } "
               "points { response_ms: 2 yield: 2 } }")),
       "yield"},
      {why(one("yield { form: 'hybrid' full: 1 at_deadline: 2 }")), "yield"},
      {why(one("yield { form: 'table' points { response_ms: -1 yield: 1 } }")),
       "response_ms is -1"},
      {why(one("yield { form: 'linear' }")), "'linear'"},
      {why(one("yield { form: 'throughput' full: -4 }")), "yield"},
      {why(one("yield { form: 'table' }")), "yield"},
      {why(one("") + one("")), "twice"},
      {why("service_classes { name: 'no space' }"), "'no space'"},
      {why(one("api_keys: 'short'")), "API key"},
      {why(one("api_keys: 'long-enough'") +
           "service_classes { name: 'b' api_keys: 'long-enough' }"),
       "duplicate API key"},
      {why(one("api_keys: 'long-enough' api_key_sha256: '" + ApiKeyHash("long-enough") + "'")),
       "duplicate API key"},
      {why(one("api_key_sha256: '" + std::string(64, 'F') + "'")), "64 hexadecimal digits"},
      {why(one("api_key_sha256: '" + std::string(63, 'f') + "'")), "64 hexadecimal digits"},
      {why(one("") + "default_service_class: 'x'"), "'x' is not a service class"},
      {why(one(""), "scheduling: 'lifo'"), "lifo"},
      {why(one(""), "drop_share: 1"), "drop share"},
      {why("", "wait_share_max: 1.5"), "wait share"},
      {why(one(""), "threads { service_class: 'x' count: 1 }"), "'x' is not a service class"},
      {why(one(""), "concurrency: 2 threads { service_class: 'a' count: 3 }"),
       "reserve more than all"},
      {why(one(""), "class_rules { service_class: 'a' partitions: 5 }"), "partition 5"},
      {why(one(""), "class_rules { service_class: 'x' }"), "'x' is not a service class"},
  };
  for (const auto& [said, expected] : faults) {
    EXPECT_NE(said.find(expected), std::string::npos) << "'" << said << "' for " << expected;
    EXPECT_NE(said.find("spec:"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace neptune
