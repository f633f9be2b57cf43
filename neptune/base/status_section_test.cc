#include "neptune/base/status_section.h"

#include <gtest/gtest.h>

#include "neptune/base/ids.h"

namespace neptune {
namespace {

void Nothing(StatusReport*) {}

TEST(StatusSectionTest, ReportsComeByName) {
  StatusSections sections;
  const StatusSection wire = *sections.Add("wire", Nothing);
  const StatusSection capsule = *sections.Add("capsule", Nothing);
  const std::vector<StatusReport> reports = sections.Render();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].name, "capsule");
  EXPECT_EQ(reports[1].name, "wire");
}

TEST(StatusSectionTest, ReportKeepsTheKindsOfValues) {
  StatusSections sections;
  const StatusSection section = *sections.Add("node", [](StatusReport* report) {
    report->AddFact("id", NodeId("n1"));
    report->AddFact("uptime_s", 1.5);
    StatusTable& table = report->tables.emplace_back();
    table.title = "partitions";
    table.columns = {"partition", "requests", "ready"};
    table.AddRow(PartitionId(3), uint64_t{17}, true);
  });
  const StatusReport report = *sections.Render("node");
  EXPECT_EQ(report.facts[0].second, StatusCell(std::string("n1")));
  EXPECT_EQ(report.facts[1].second, StatusCell(1.5));
  const std::vector<StatusCell> row = {int64_t{3}, int64_t{17}, true};
  EXPECT_EQ(report.tables[0].rows[0], row);
}

TEST(StatusSectionTest, SectionGoesWithItsOwner) {
  StatusSections sections;
  { const StatusSection section = *sections.Add("a", Nothing); }
  EXPECT_TRUE(sections.Render().empty());
  EXPECT_EQ(sections.Render("a").status().code(), StatusCode::kNotFound);
}

TEST(StatusSectionTest, MovedSectionStays) {
  StatusSections sections;
  StatusSection first = *sections.Add("a", Nothing);
  const StatusSection second = std::move(first);
  first.Remove();
  EXPECT_EQ(sections.Render().size(), 1u);
}

TEST(StatusSectionTest, TakenNameIsRefused) {
  StatusSections sections;
  const StatusSection section = *sections.Add("a", Nothing);
  EXPECT_EQ(sections.Add("a", Nothing).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(sections.Add("", Nothing).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(sections.Add("b", nullptr).status().code(), StatusCode::kInvalidArgument);
}

TEST(StatusSectionTest, LongTableCountsTheRowsItLeavesOut) {
  StatusTable table;
  table.columns = {"row"};
  for (size_t i = 0; i < kStatusRowCountMax + 3; ++i) table.AddRow(i);
  EXPECT_EQ(table.rows.size(), kStatusRowCountMax);
  EXPECT_EQ(table.rows_left_out, 3u);
}

}  // namespace
}  // namespace neptune
