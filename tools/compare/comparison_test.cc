#include "tools/compare/comparison.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/replay/summary.h"
#include "tools/streams/file_sink.h"

namespace search::tools {
namespace {

// The folder of a run whose requests all took `latency_ms`.
std::string WriteRun(const std::string& name, int64_t latency_ms, double speed = 1,
                     int64_t lateness_ms = 0) {
  const RunSetup setup{.speed = speed, .duration_s = 1, .planned_count = 10, .classes = {"gold"}};
  std::vector<Measurement> measurements;
  for (int i = 0; i < 10; ++i) {
    measurements.push_back({.intended_ns = 0,
                            .sent_ns = lateness_ms * 1'000'000,
                            .done_ns = latency_ms * 1'000'000,
                            .quality = 1});
  }
  const std::string folder = testing::TempDir() + "/compare/" + name;
  EXPECT_TRUE(WriteWholeFile(folder + "/summary.json",
                             SummaryJson(setup, Summarize(setup, measurements, true)))
                  .ok());
  return folder;
}

std::vector<RunGroup> Groups(const std::vector<std::string>& texts) {
  std::vector<RunGroup> groups;
  for (const std::string& text : texts) {
    auto group = ReadGroup(text);
    EXPECT_TRUE(group.ok()) << group.status();
    groups.push_back(*std::move(group));
  }
  return groups;
}

TEST(ComparisonTest, ADifferenceBeyondItsIntervalIsNamed) {
  const auto groups = Groups(
      {"before=" + WriteRun("a1", 100) + "," + WriteRun("a2", 102) + "," + WriteRun("a3", 101),
       "after=" + WriteRun("b1", 50) + "," + WriteRun("b2", 52) + "," + WriteRun("b3", 51)});
  ASSERT_TRUE(CheckComparable(groups, {}).ok());
  const auto rows = Compare(groups);
  EXPECT_EQ(rows[0].figure.name, "latency mean ms");
  EXPECT_NEAR(rows[0].means[0].middle, 101, 0.1);
  EXPECT_NEAR(rows[0].differences[0].middle, -50, 0.1);
  // Deviation 1 on each side, 4 degrees of freedom: 2.776 * sqrt(2 / 3).
  EXPECT_NEAR(rows[0].differences[0].high - rows[0].differences[0].middle, 2.267, 0.02);
  EXPECT_EQ(rows[0].verdicts[0], Verdict::kBetter);
  const std::string text = DescribeComparison(groups, rows);
  EXPECT_NE(text.find("before (3)"), std::string::npos);
  EXPECT_NE(text.find("-49.5 % [-51.7, -47.3]"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(ComparisonJson(groups, rows));
  EXPECT_EQ(json["figures"]["latency mean ms"]["after"]["verdict"], "better");
}

TEST(ComparisonTest, ADifferenceWithinItsIntervalIsNone) {
  const auto groups = Groups({"a=" + WriteRun("n1", 100) + "," + WriteRun("n2", 140),
                              "b=" + WriteRun("n3", 110) + "," + WriteRun("n4", 150)});
  EXPECT_EQ(Compare(groups)[0].verdicts[0], Verdict::kNoDifference);
}

TEST(ComparisonTest, OneRunHasNoInterval) {
  const auto groups = Groups({WriteRun("o1", 100), WriteRun("o2", 50)});
  EXPECT_EQ(groups[0].name, "o1");
  EXPECT_EQ(Compare(groups)[0].verdicts[0], Verdict::kOneRun);
}

TEST(ComparisonTest, AFolderOfRunsIsAGroup) {
  WriteRun("set/r1", 10);
  WriteRun("set/r2", 12);
  EXPECT_EQ(Groups({testing::TempDir() + "/compare/set"})[0].runs.size(), 2u);
}

TEST(ComparisonTest, DifferentSetUpsAreRefusedUnlessNamed) {
  const auto groups = Groups({WriteRun("d1", 10, 1), WriteRun("d2", 10, 2)});
  const auto status = CheckComparable(groups, {});
  EXPECT_EQ(status.code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(neptune::ToStd(status.message())).find("different set-ups (speed)"),
            std::string::npos);
  EXPECT_TRUE(CheckComparable(groups, {.may_differ = {"speed"}}).ok());
}

TEST(ComparisonTest, InvalidRunsAreRefusedUnlessAllowed) {
  const auto groups = Groups({WriteRun("i1", 10), WriteRun("i2", 10, 1, 5)});
  EXPECT_FALSE(CheckComparable(groups, {}).ok());
  EXPECT_TRUE(CheckComparable(groups, {.allow_invalid = true}).ok());
}

TEST(ComparisonTest, FoldersWithoutRunsAreRefused) {
  EXPECT_FALSE(ReadGroup("").ok());
  EXPECT_FALSE(ReadGroup("/nowhere/at/all").ok());
  const std::string folder = testing::TempDir() + "/compare/other";
  ASSERT_TRUE(WriteWholeFile(folder + "/summary.json", "{\"valid\":true}").ok());
  EXPECT_FALSE(ReadGroup(folder).ok());
}

}  // namespace
}  // namespace search::tools
