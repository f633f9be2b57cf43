#include "frontend/console/cluster_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neptune/thread/user_thread.h"
#include "neptune/world/sim/simulator.h"

namespace search::frontend {
namespace {

using testing::ElementsAre;

constexpr char kStatus[] = R"({"node":"web","sections":[
  {"name":"capsules","facts":{"on":true},"tables":[
    {"title":"Capsules","columns":["name","waiting"],"rows":[["default",0],["docs",17.5]]}]},
  {"name":"calls","facts":{"secret":1},"tables":[]}]})";

ClusterState TwoNodes() {
  ClusterState state;
  ConsoleNode a;
  a.name = "a";
  a.services = {{"tier1", {0, 1}, "segment"}, {"docs", {0}, "rocksdb"}};
  a.tables = *TablesOfStatus(kStatus);
  ConsoleNode b = a;
  b.name = "b";
  b.services = {{"tier1", {1, 2}, "xapian"}};
  state.nodes = {a, b};
  return state;
}

TEST(ClusterStateTest, StatusBecomesTablesOfTheSectionsThatAreShown) {
  const auto tables = TablesOfStatus(kStatus);
  ASSERT_TRUE(tables.ok()) << tables.status();
  ASSERT_EQ(tables->size(), 2u);
  EXPECT_EQ((*tables)[0], (ConsoleTable{"capsules", "", {"what", "value"}, {{"on", "yes"}}}));
  EXPECT_EQ(
      (*tables)[1],
      (ConsoleTable{
          "capsules", "Capsules", {"name", "waiting"}, {{"default", "0"}, {"docs", "17.5"}}}));
}

TEST(ClusterStateTest, MalformedStatusIsRefused) {
  for (const char* text : {"", "[]", "7", "{\"node\":1}", "{\"sections\":", "not found\n"}) {
    EXPECT_FALSE(TablesOfStatus(text).ok()) << text;
  }
}

TEST(ClusterStateTest, CellsThatAreNotScalarsAreNotShown) {
  const auto tables = TablesOfStatus(
      R"({"sections":[{"name":"security","facts":{"x":[1,2],"y":{"z":1},"n":null,"b":false}}]})");
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_THAT((*tables)[0].rows, ElementsAre(ElementsAre("b", "no"), ElementsAre("n", "null"),
                                             ElementsAre("x", "..."), ElementsAre("y", "...")));
}

TEST(ClusterStateTest, NestedStatusIsRefusedOnTheSmallStackOfAUserThread) {
  constexpr size_t kDepth = 100'000;
  const std::string status = R"({"sections":[{"name":"security","facts":{"x":)" +
                             std::string(kDepth, '[') + std::string(kDepth, ']') + "}}]}";
  neptune::Simulator simulator{1};
  neptune::Loop* const loop = *simulator.AddHost({.name = "web"}).StartLoop({.name = "serve"});
  std::unique_ptr<neptune::ThreadScheduler> scheduler;
  neptune::Status read;
  loop->Post([&] {
    scheduler = std::make_unique<neptune::ThreadScheduler>(*loop);
    const auto started = scheduler->Spawn([&] { read = TablesOfStatus(status).status(); }, "show");
    ASSERT_TRUE(started.ok());
  });
  simulator.RunFor(std::chrono::seconds(1));
  EXPECT_EQ(read.code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_NE(read.message().find("within each other"), absl::string_view::npos) << read;
  loop->Post([&] { scheduler.reset(); });
  simulator.RunFor(std::chrono::seconds(1));
}

TEST(ClusterStateTest, RowsAreAsLongAsTheirColumns) {
  const auto tables = TablesOfStatus(
      R"({"sections":[{"name":"replicas","tables":[{"columns":["a","b"],"rows":[[1,2,3],[1]]}]}]})");
  ASSERT_TRUE(tables.ok());
  EXPECT_THAT((*tables)[0].rows, ElementsAre(ElementsAre("1", "2"), ElementsAre("1", "")));
}

TEST(ClusterStateTest, TablesOfNodesAreMerged) {
  const std::vector<ConsoleTable> together = Together(TwoNodes());
  ASSERT_EQ(together.size(), 2u);
  EXPECT_THAT(together[1].columns, ElementsAre("node", "name", "waiting"));
  EXPECT_THAT(together[1].rows,
              ElementsAre(ElementsAre("a", "default", "0"), ElementsAre("a", "docs", "17.5"),
                          ElementsAre("b", "default", "0"), ElementsAre("b", "docs", "17.5")));
}

TEST(ClusterStateTest, TablesWithOtherColumnsAreNotMerged) {
  ClusterState state = TwoNodes();
  state.nodes[1].tables[1].columns = {"name", "running"};
  EXPECT_EQ(Together(state).size(), 3u);
}

TEST(ClusterStateTest, CoverNamesNodesOfPartitionsAndAllImplementations) {
  const std::vector<ServiceCover> covers = CoverOf(TwoNodes());
  ASSERT_EQ(covers.size(), 2u);
  EXPECT_EQ(covers[0].name, "docs");
  EXPECT_EQ(covers[0].replicas_min(), 1u);
  EXPECT_THAT(covers[1].implementations, ElementsAre("segment", "xapian"));
  EXPECT_THAT(covers[1].nodes_of_partition.at(1), ElementsAre("a", "b"));
  EXPECT_THAT(covers[1].nodes_of_partition.at(2), ElementsAre("b"));
}

}  // namespace
}  // namespace search::frontend
