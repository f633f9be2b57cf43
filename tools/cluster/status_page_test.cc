#include "tools/cluster/status_page.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

constexpr char kPage[] = R"({"sections":[
  {"name":"others","tables":[]},
  {"name":"replicas","tables":[{"title":"t","columns":["service","partition","role"],"rows_left_out":0,
    "rows":[["tier1",3,"primary"],["docs",0,"secondary"]]}]}]})";

TEST(StatusPageTest, CellsAreFoundByTheirColumns) {
  const auto tables = ParseStatusSection(kPage, "replicas");
  ASSERT_TRUE(tables.ok()) << tables.status();
  ASSERT_EQ(tables->size(), 1U);
  EXPECT_EQ((*tables)[0].title, "t");
  ASSERT_EQ((*tables)[0].rows.size(), 2U);
  EXPECT_EQ((*tables)[0].rows[0].at("partition"), "3");
  EXPECT_EQ((*tables)[0].rows[1].at("role"), "secondary");
}

TEST(StatusPageTest, TablesOfOtherTitlesAreNotRead) {
  constexpr char kTwo[] = R"({"sections":[{"name":"s","tables":[
    {"title":"a","columns":[],"rows":[],"rows_left_out":9},
    {"title":"b","columns":["x"],"rows":[["y"]]}]}]})";
  const auto tables = ParseStatusSection(kTwo, "s", "b");
  ASSERT_TRUE(tables.ok()) << tables.status();
  ASSERT_EQ(tables->size(), 1U);
  EXPECT_EQ((*tables)[0].rows[0].at("x"), "y");
  EXPECT_FALSE(ParseStatusSection(kTwo, "s").ok());
}

TEST(StatusPageTest, WhatIsNoSuchPageIsRefused) {
  for (
      const char* page :
      {"", "{}", "[1]", R"({"sections":[]})", R"({"sections":[{"name":"replicas"}]})",
       R"({"sections":[{"name":"replicas","tables":[{"title":"t","columns":["a","b"],"rows":[[1]]}]}]})",
       R"({"sections":[{"name":"replicas","tables":[{"title":"t","columns":[],"rows":[],"rows_left_out":1}]}]})"}) {
    EXPECT_EQ(ParseStatusSection(page, "replicas").status().code(), neptune::StatusCode::kDataLoss)
        << page;
  }
}

}  // namespace
}  // namespace search::tools
