#include "tools/cluster/offered_replicas.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

neptune::ClusterSpec Spec() {
  const auto spec = neptune::ParseClusterSpec(
      "name: 'c' multicast_group: '239.192.7.3:7400' "
      "services { name: 'index' module: 'm' partition_count: 2 } "
      "services { name: 'web' module: 'm' partition_count: 2 } "
      "nodes { name: 'a' hosts { service: 'index' partitions: [0, 1] } } "
      "nodes { name: 'b' hosts { service: 'index' partitions: 0 } } "
      "nodes { name: 'v' hosts { service: 'web' partitions: 0 "
      "        parameters { key: 'http_port' value: '1' } } } "
      "nodes { name: 'w' hosts { service: 'web' partitions: 1 "
      "        parameters { key: 'http_port' value: '2' } } }",
      "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

OfferedReplicas All() {
  return {{{"index", 0, "a"}, "x"},
          {{"index", 1, "a"}, "x"},
          {{"index", 0, "b"}, "x"},
          {{"web", 0, "v"}, "x"},
          {{"web", 1, "w"}, "x"}};
}

TEST(OfferedReplicasTest, NodeWhosePartitionsAreElsewhereIsDispensable) {
  EXPECT_TRUE(IsDispensable(Spec(), All(), "b").ok());
}

TEST(OfferedReplicasTest, LastReplicaIsNot) {
  const neptune::Status status = IsDispensable(Spec(), All(), "a");
  EXPECT_NE(status.message().find(" index/1;"), std::string_view::npos) << status;
}

TEST(OfferedReplicasTest, ReplicaThatIsNotOfferedDoesNotCount) {
  OfferedReplicas offered = All();
  offered.erase({"index", 0, "a"});
  EXPECT_FALSE(IsDispensable(Spec(), offered, "b").ok());
}

TEST(OfferedReplicasTest, AnyOtherNodeThatServesUsersWillDo) {
  EXPECT_TRUE(IsDispensable(Spec(), All(), "v").ok());
  OfferedReplicas offered = All();
  offered.erase({"web", 1, "w"});
  EXPECT_FALSE(IsDispensable(Spec(), offered, "v").ok());
}

TEST(OfferedReplicasTest, PageIsRead) {
  const auto offered = ParseYellowPage(
      R"({"sections":[{"name":"yellow page","tables":[{"title":"Nodes"},
          {"title":"Services","columns":["service","partition","node","implementation"],
           "rows":[["index",1,"a","segment"]],"rows_left_out":0}]}]})");
  ASSERT_TRUE(offered.ok()) << offered.status();
  EXPECT_EQ(*offered, (OfferedReplicas{{{"index", 1, "a"}, "segment"}}));
}

TEST(OfferedReplicasTest, PageThatLeavesRowsOutIsRefused) {
  EXPECT_FALSE(ParseYellowPage(
                   R"({"sections":[{"name":"yellow page","tables":[{"title":"Services",
           "columns":["service","partition","node","implementation"],
           "rows":[],"rows_left_out":3}]}]})")
                   .ok());
}

TEST(OfferedReplicasTest, NoPageIsRefused) {
  for (const char* text : {"", "[]", "{}", "{\"sections\":[]}", "{\"sections\":3}"}) {
    EXPECT_FALSE(ParseYellowPage(text).ok()) << text;
  }
}

}  // namespace
}  // namespace search::tools
