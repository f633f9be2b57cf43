#include "tools/lab/search/node_status.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

constexpr char kPage[] = R"({"sections":[
  {"name":"others","tables":[]},
  {"name":"replicas","tables":[{"title":"t","columns":["service","partition","role"],"rows_left_out":0,
    "rows":[["tier1",3,"primary"],["docs",0,"secondary"]]}]}]})";

TEST(NodeStatusTest, CellsAreFoundByTheirColumns) {
  const auto tables = ParseNodeStatus(kPage, "replicas");
  ASSERT_TRUE(tables.ok()) << tables.status();
  ASSERT_EQ(tables->size(), 1U);
  EXPECT_EQ((*tables)[0].title, "t");
  ASSERT_EQ((*tables)[0].rows.size(), 2U);
  EXPECT_EQ((*tables)[0].rows[0].at("partition"), "3");
  EXPECT_EQ((*tables)[0].rows[1].at("role"), "secondary");
}

TEST(NodeStatusTest, WhatIsNoSuchPageIsRefused) {
  for (
      const char* page :
      {"", "{}", "[1]", R"({"sections":[]})", R"({"sections":[{"name":"replicas"}]})",
       R"({"sections":[{"name":"replicas","tables":[{"title":"t","columns":["a","b"],"rows":[[1]]}]}]})",
       R"({"sections":[{"name":"replicas","tables":[{"title":"t","columns":[],"rows":[],"rows_left_out":1}]}]})"}) {
    EXPECT_EQ(ParseNodeStatus(page, "replicas").status().code(), neptune::StatusCode::kDataLoss)
        << page;
  }
}

TEST(NodeStatusTest, ANodeThatSaysNoAddressIsNotAsked) {
  EXPECT_EQ(ReadNodeStatus("pid 1\n", "replicas").status().code(),
            neptune::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::lab
