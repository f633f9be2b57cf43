#include "neptune/service/call_statistics.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;

TEST(CallStatisticsTest, CountsOutcomesAndTimesByMethod) {
  MetricsRegistry metrics;
  CallStatistics statistics(metrics);
  const ServiceName docs("docs");
  const MethodName fetch("Fetch");
  statistics.Record(docs, fetch, OkStatus(), {1, milliseconds(2)});
  statistics.Record(docs, fetch, OkStatus(), {2, milliseconds(4)});
  statistics.Record(docs, fetch, Unavailable("gone"), {3, milliseconds(9), true, true});
  statistics.Record(docs, MethodName("Count"), OkStatus(), {1, milliseconds(1)});
  const MetricLabels labels = {{"service", "docs"}, {"method", "Fetch"}};
  const auto value = [&](const char* outcome) {
    return *metrics.Value("neptune_calls_total",
                          {{"service", "docs"}, {"method", "Fetch"}, {"outcome", outcome}});
  };
  EXPECT_EQ(value("ok"), 2);
  EXPECT_EQ(value("unavailable"), 1);
  EXPECT_EQ(value("expired"), 0);
  EXPECT_EQ(*metrics.Value("neptune_call_attempts_total", labels), 6);
  EXPECT_EQ(*metrics.Value("neptune_call_hedges_total", labels), 1);
  EXPECT_EQ(*metrics.Value("neptune_call_denied_retries_total", labels), 1);
  EXPECT_EQ(*metrics.Value("neptune_call_seconds", labels), 3);
  StatusReport report;
  statistics.Describe(&report);
  ASSERT_EQ(report.tables.at(0).rows.size(), 2u);
  EXPECT_EQ(report.tables[0].rows[1][0], StatusCell("docs"));
  EXPECT_EQ(report.tables[0].rows[1][1], StatusCell("Fetch"));
}

TEST(CallStatisticsTest, MethodsBeyondTheLimitAreNotCounted) {
  MetricsRegistry metrics;
  CallStatistics statistics(metrics);
  for (size_t i = 0; i < kCalledMethodCountMax + 5; ++i) {
    statistics.Record(ServiceName("s" + std::to_string(i)), MethodName("m"), OkStatus(),
                      {1, milliseconds(1)});
  }
  StatusReport report;
  statistics.Describe(&report);
  EXPECT_EQ(report.tables.at(0).rows.size(), kCalledMethodCountMax);
}

}  // namespace
}  // namespace neptune
