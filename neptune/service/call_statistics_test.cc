#include "neptune/service/call_statistics.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;

TEST(CallStatisticsTest, CountsOutcomesAndTimesByService) {
  MetricsRegistry metrics;
  CallStatistics statistics(metrics);
  const ServiceName docs("docs");
  statistics.Record(docs, OkStatus(), 1, milliseconds(2));
  statistics.Record(docs, OkStatus(), 2, milliseconds(4));
  statistics.Record(docs, Unavailable("gone"), 3, milliseconds(9));
  const auto value = [&](const char* outcome) {
    return *metrics.Value("neptune_calls_total", {{"service", "docs"}, {"outcome", outcome}});
  };
  EXPECT_EQ(value("ok"), 2);
  EXPECT_EQ(value("unavailable"), 1);
  EXPECT_EQ(value("expired"), 0);
  EXPECT_EQ(*metrics.Value("neptune_call_attempts_total", {{"service", "docs"}}), 6);
  EXPECT_EQ(*metrics.Value("neptune_call_seconds", {{"service", "docs"}}), 3);
  StatusReport report;
  statistics.Describe(&report);
  ASSERT_EQ(report.tables.at(0).rows.size(), 1u);
  EXPECT_EQ(report.tables[0].rows[0][0], StatusCell("docs"));
}

TEST(CallStatisticsTest, ServicesBeyondTheLimitAreNotCounted) {
  MetricsRegistry metrics;
  CallStatistics statistics(metrics);
  for (size_t i = 0; i < kCalledServiceCountMax + 5; ++i) {
    statistics.Record(ServiceName("s" + std::to_string(i)), OkStatus(), 1, milliseconds(1));
  }
  StatusReport report;
  statistics.Describe(&report);
  EXPECT_EQ(report.tables.at(0).rows.size(), kCalledServiceCountMax);
}

}  // namespace
}  // namespace neptune
