#include "tools/cluster/changes_file.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

ClusterChanges Some() {
  ClusterChanges changes;
  changes.hosted.push_back({"a", "tier1", "", {{"implementation", "postings"}, {"path", "t.p"}}});
  changes.hosted.push_back({"b", "cache", "/x/cache_2.so", {}});
  RollingChange change{.what = "swap tier1=postings", .change = changes.hosted[0]};
  change.implementation = "postings";
  change.failure = "it did not start: \"x\"";
  change.nodes = {{"a", NodeStage::kChanged}, {"b", NodeStage::kReturning, changes.hosted[1]}};
  changes.under_way = change;
  return changes;
}

neptune::ClusterSpec Spec() {
  const auto spec = neptune::ParseClusterSpec(
      "name: 'c' multicast_group: '239.192.7.3:7400' admin_token_file: '../t' "
      "cluster_key_file: 'key' node_tls { certificate_file: '{node}.pem' key_file: '{node}.key' "
      "                                   authority_file: 'authority.pem' } "
      "services { name: 'tier1' module: 'index_tier' concurrency: 3 "
      "           parameters { key: 'path' value: 'tier1' } } "
      "services { name: 'cache' module: 'query_cache' } "
      "nodes { name: 'a' hosts { service: 'tier1' } } nodes { name: 'b' hosts { service: 'cache' } "
      "}",
      "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

TEST(ChangesFileTest, WrittenChangesAreReadBack) {
  const auto read = ParseChanges(ChangesJson(Some()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Some());
  EXPECT_EQ(*ParseChanges(ChangesJson({})), ClusterChanges());
}

TEST(ChangesFileTest, DamagedTextsAreRefused) {
  const std::string whole = ChangesJson(Some());
  for (size_t size = 0; size + 2 < whole.size(); ++size) {
    EXPECT_FALSE(ParseChanges(whole.substr(0, size)).ok()) << size;
  }
  for (const auto& [from, to] :
       {std::pair{"\"format_version\": 1", "\"format_version\": 2"},
        std::pair{"\"changed\"", "\"eaten\""}, std::pair{"\"node\": \"b\"", "\"node\": 3"}}) {
    std::string text = whole;
    text.replace(text.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(ParseChanges(text).ok()) << to;
  }
}

TEST(ChangesFileTest, ChangesWinOverTheSpec) {
  neptune::ClusterSpec spec = Spec();
  ASSERT_TRUE(ApplyChanges(Some(), &spec).ok());
  const auto parameters = neptune::EffectiveParameters(spec, spec.nodes(0).hosts(0));
  EXPECT_EQ(parameters.at("path"), "t.p");
  EXPECT_EQ(parameters.at("implementation"), "postings");
  EXPECT_EQ(spec.nodes(1).hosts(0).module(), "/x/cache_2.so");
}

TEST(ChangesFileTest, ChangeWithoutPlaceInTheSpecIsRefused) {
  neptune::ClusterSpec spec = Spec();
  ClusterChanges changes;
  changes.hosted.push_back({"a", "cache", "", {}});
  const neptune::Status status = ApplyChanges(changes, &spec);
  EXPECT_EQ(status.code(), neptune::StatusCode::kFailedPrecondition);
}

TEST(ChangesFileTest, NodesReadTheSameSpecElsewhere) {
  const neptune::ClusterSpec spec = Spec();
  const auto again = neptune::ParseClusterSpec(SpecForNodes(spec, "/etc/search/c.textproto"), "n");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->admin_token_file(), "/etc/t");
  EXPECT_EQ(again->cluster_key_file(), "/etc/search/key");
  EXPECT_EQ(again->node_tls().certificate_file(), "/etc/search/{node}.pem");
  EXPECT_EQ(again->node_tls().authority_file(), "/etc/search/authority.pem");
  EXPECT_EQ(again->services(0).concurrency(), 3u);
  EXPECT_EQ(again->nodes(1).hosts(0).service(), "cache");
}

TEST(ChangesFileTest, PathsOfModulesStayThose) {
  neptune::ClusterSpec spec = Spec();
  spec.mutable_services(0)->set_module("lib/tier.so");
  spec.mutable_nodes(1)->mutable_hosts(0)->set_module("/x/cache_2.so");
  const auto again = neptune::ParseClusterSpec(SpecForNodes(spec, "/etc/search/c.textproto"), "n");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->services(0).module(), "/etc/search/lib/tier.so");
  EXPECT_EQ(again->services(1).module(), "query_cache");
  EXPECT_EQ(again->nodes(1).hosts(0).module(), "/x/cache_2.so");
}

}  // namespace
}  // namespace search::tools
