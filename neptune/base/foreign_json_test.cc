#include "neptune/base/foreign_json.h"

#include <gtest/gtest.h>

#include <string>

namespace neptune {
namespace {

std::string Error(std::string_view text, const JsonLimits& limits = {}) {
  const auto read = ReadForeignJson(text, limits);
  return read.ok() ? "" : std::string(ToStd(read.status().message()));
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ForeignJsonTest, ADocumentWithinTheLimitsIsRead) {
  const auto read = ReadForeignJson(R"({"a":[1,2.5,"x\"]",null],"b":{"c":true}})");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)["a"][2], "x\"]");
  EXPECT_EQ((*read)["b"]["c"], true);
}

TEST(ForeignJsonTest, DepthIsLimited) {
  EXPECT_EQ(Error(Nested(4), {.depth_max = 4}), "");
  EXPECT_EQ(Error(Nested(5), {.depth_max = 4}),
            "JSON with more than 4 arrays and objects within each other");
  EXPECT_NE(Error(R"({"a":{"b":[{"c":[]}]}})", {.depth_max = 4}), "");
  EXPECT_EQ(Error(R"([[],[],{},[{}]])", {.depth_max = 3}), "") << "beside each other is not depth";
}

TEST(ForeignJsonTest, ValuesAndNamesAreCounted) {
  EXPECT_EQ(Error("[1,2,3]", {.value_count_max = 4}), "");
  EXPECT_EQ(Error("[1,2,3,4]", {.value_count_max = 4}), "JSON with more than 4 values");
  EXPECT_EQ(Error(R"({"a":1,"b":2})", {.value_count_max = 5}), "");
  EXPECT_NE(Error(R"({"a":1,"b":2})", {.value_count_max = 4}), "");
}

TEST(ForeignJsonTest, WhatIsInStringsDoesNotCount) {
  EXPECT_EQ(Error(R"(["[[[[[,,,,,:::::\"[[[[","\\"])", {.depth_max = 1, .value_count_max = 4}), "");
  EXPECT_NE(Error(R"(["\\",[]])", {.depth_max = 1}), "") << "the string ends before the bracket";
}

TEST(ForeignJsonTest, SizeIsLimited) {
  EXPECT_EQ(Error("[1]", {.size_max = 3}), "");
  EXPECT_EQ(Error("[10]", {.size_max = 3}), "JSON of 4 bytes, more than 3");
}

TEST(ForeignJsonTest, MalformedTextIsRefused) {
  for (const char* text : {"", "[", "]", "{\"a\"}", "\"", "\"\\", "[1}", "1e999", "\xff", "[1]x"}) {
    EXPECT_EQ(Error(text), "not JSON, or not UTF-8") << text;
  }
}

TEST(ForeignJsonTest, BracketsEndTheReadingWithoutMemoryForThem) {
  EXPECT_NE(Error(std::string(1'000'000, '['), {.size_max = 1'000'000}).find("within each other"),
            std::string::npos);
}

}  // namespace
}  // namespace neptune
