#include "neptune/service/span_log.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

Span Numbered(uint64_t number) {
  Span span;
  span.context = {1, 2, number, true};
  span.what = "echo/0.Echo";
  return span;
}

TEST(SpanLogTest, KeepsTheLatestInTheirOrder) {
  SpanLog log;
  for (uint64_t i = 1; i <= kSpanCountMax + 10; ++i) log.Record(Numbered(i));
  const std::vector<Span> spans = log.Snapshot();
  ASSERT_EQ(spans.size(), kSpanCountMax);
  EXPECT_EQ(spans.front().context.span, 11u);
  EXPECT_EQ(spans.back().context.span, kSpanCountMax + 10);
}

TEST(SpanLogTest, PageShowsTheLatestFirst) {
  SpanLog log;
  log.Record(Numbered(7));
  log.Record(Numbered(8));
  StatusReport report;
  log.Describe(&report);
  ASSERT_EQ(report.tables.size(), 1u);
  ASSERT_EQ(report.tables[0].rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(report.tables[0].rows[0][0]), "00000000000000010000000000000002");
  EXPECT_EQ(std::get<std::string>(report.tables[0].rows[0][1]), "0000000000000008");
}

}  // namespace
}  // namespace neptune
