// Tests which queries of traces and access logs may be suggested.

#include "tools/build_index/asked_queries.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::StatusCode;
using neptune::StrCat;

constexpr uint64_t kHourUs = 3600ull * 1'000'000;

// Writes a trace of these queries, asked at these hours, and returns its path.
std::string WriteTrace(const std::string& name,
                       const std::vector<std::pair<double, std::string>>& asked) {
  const std::string path = StrCat(testing::TempDir(), "/", name);
  std::ofstream out(path);
  out << "#neptune-trace v1\n";
  for (const auto& [hour, query] : asked) {
    out << static_cast<uint64_t>(hour * static_cast<double>(kHourUs)) << "\tgold\t" << query
        << "\n";
  }
  return path;
}

std::string Suggested(const std::vector<std::string>& paths, uint32_t hours_min) {
  const auto queries = ReadAskedQueries(paths, hours_min);
  EXPECT_TRUE(queries.ok()) << queries.status();
  std::string text;
  for (const auto& query : *queries) text += StrCat(query.text, "=", query.count, ";");
  return text;
}

TEST(AskedQueriesTest, AQueryCountsOnceAnHour) {
  const std::string path = WriteTrace("hours.trace", {{0.1, "Window Functions"},
                                                      {0.2, "one person many times"},
                                                      {0.3, "one person many times"},
                                                      {0.4, "one person many times"},
                                                      {0.5, "one person many times"},
                                                      {1.1, "window  functions"},
                                                      {2.1, "WINDOW functions"},
                                                      {2.2, "rare"}});
  EXPECT_EQ(Suggested({path}, 3), "Window Functions=3;");
  EXPECT_EQ(Suggested({path}, 4), "");
}

TEST(AskedQueriesTest, HoursOfDifferentFilesAreDifferent) {
  const std::string one = WriteTrace("one.trace", {{0, "heap"}, {1, "heap"}});
  const std::string other = WriteTrace("other.trace", {{1, "heap"}});
  EXPECT_EQ(Suggested({one, other}, 3), "heap=3;");
}

TEST(AskedQueriesTest, WhatLooksPrivateIsNeverSuggested) {
  std::vector<std::pair<double, std::string>> asked;
  for (int hour = 0; hour < 50; ++hour) {
    for (const char* query : {"mail to jo@example.org", "call 555123456", "error 10054", "..."}) {
      asked.push_back({hour, query});
    }
  }
  EXPECT_EQ(Suggested({WriteTrace("private.trace", asked)}, 5), "error 10054=50;");
}

TEST(AskedQueriesTest, AccessLogsAreRead) {
  const std::string path = StrCat(testing::TempDir(), "/access.log");
  std::ofstream out(path);
  for (uint64_t hour = 0; hour < 4; ++hour) {
    out << R"({"time_us":)" << 1'700'000'000'000'000 + hour * kHourUs
        << R"(,"class":"gold","query":"hash map","status":200})"
        << "\n";
  }
  out.close();
  EXPECT_EQ(Suggested({path}, 4), "hash map=4;");
}

TEST(AskedQueriesTest, ThresholdsThatProtectNobodyAreRefused) {
  EXPECT_EQ(ReadAskedQueries({}, kAskedHoursMin - 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(ReadAskedQueries({}, kAskedHoursMin)->empty());
  EXPECT_FALSE(ReadAskedQueries({testing::TempDir() + "/no such file"}, 3).ok());
}

}  // namespace
}  // namespace search::tools
