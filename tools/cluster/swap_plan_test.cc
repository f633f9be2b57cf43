#include "tools/cluster/swap_plan.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

using Parameters = std::map<std::string, std::string>;

neptune::ClusterSpec Spec() {
  const auto spec = neptune::ParseClusterSpec(
      "name: 'c' multicast_group: '239.192.7.3:7400' "
      "services { name: 'tier1' module: 'index_tier' parameters { key: 'path' value: 'tier1' } } "
      "services { name: 'cache' module: 'query_cache' } "
      "nodes { name: 'a' hosts { service: 'tier1' } } nodes { name: 'b' hosts { service: 'cache' } "
      "} "
      "nodes { name: 'c' hosts { service: 'tier1' } hosts { service: 'cache' } }",
      "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

const std::vector<ManifestPart> kParts = {{"tier1", "segment", {}},
                                          {"tier1.rocksdb_postings", "rocksdb_postings", {}},
                                          {"tier10", "other", {}}};

neptune::StatusOr<RollingChange> Plan(const std::string& text,
                                      std::vector<std::string> nodes = {}) {
  NEPTUNE_ASSIGN_OR_RETURN(SwapOrder order, ParseSwap(text));
  order.nodes = std::move(nodes);
  return PlanSwap(Spec(), order, kParts);
}

TEST(SwapPlanTest, ImplementationComesWithTheFolderThatWasBuiltForIt) {
  const auto change = Plan("tier1=rocksdb_postings");
  ASSERT_TRUE(change.ok()) << change.status();
  EXPECT_EQ(change->change->parameters, (Parameters{{"implementation", "rocksdb_postings"},
                                                    {"path", "tier1.rocksdb_postings"}}));
  EXPECT_EQ(change->implementation, "rocksdb_postings");
  ASSERT_EQ(change->nodes.size(), 2u);
  EXPECT_EQ(change->nodes[0].node, "a");
  EXPECT_EQ(change->nodes[1].node, "c");
}

TEST(SwapPlanTest, ImplementationThatTheIndexLacksIsRefusedWithWhatThereIs) {
  const auto change = Plan("tier1=other");
  EXPECT_EQ(change.status().code(), neptune::StatusCode::kNotFound);
  EXPECT_NE(change.status().message().find("segment, rocksdb_postings"), std::string_view::npos);
}

TEST(SwapPlanTest, ServiceWithoutFolderNeedsNone) {
  const auto change = Plan("cache=other");
  ASSERT_TRUE(change.ok());
  EXPECT_EQ(change->change->parameters, (Parameters{{"implementation", "other"}}));
}

TEST(SwapPlanTest, NothingIsWhatTheSpecSays) {
  const auto change = Plan("tier1=");
  ASSERT_TRUE(change.ok());
  EXPECT_TRUE(change->change->parameters.empty());
  EXPECT_EQ(change->implementation + change->change->module, "");
}

TEST(SwapPlanTest, OnlySomeNodes) {
  const auto change = Plan("tier1=rocksdb_postings", {"c"});
  ASSERT_TRUE(change.ok());
  ASSERT_EQ(change->nodes.size(), 1u);
  EXPECT_EQ(change->nodes[0].node, "c");
  EXPECT_FALSE(Plan("tier1=rocksdb_postings", {"b"}).ok());
}

TEST(SwapPlanTest, ModuleReplacesTheModule) {
  const auto change = PlanSwap(Spec(), {"cache", "/x/cache_2.so", true, {}, {"a=b=c"}}, {});
  ASSERT_TRUE(change.ok());
  EXPECT_EQ(change->change->module, "/x/cache_2.so");
  EXPECT_EQ(change->change->parameters, (Parameters{{"a", "b=c"}}));
}

TEST(SwapPlanTest, MalformedOrdersAreRefused) {
  EXPECT_FALSE(ParseSwap("tier1").ok());
  EXPECT_FALSE(ParseSwap("=x").ok());
  EXPECT_FALSE(Plan("tier9=x").ok());
  EXPECT_FALSE(PlanSwap(Spec(), {"cache", "x", false, {}, {"noequals"}}, {}).ok());
}

}  // namespace
}  // namespace search::tools
