#include "neptune/service/span_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace neptune {
namespace {

using nlohmann::json;

Span SomeSpan() {
  Span span;
  span.context = {0x0af7651916cd43dd, 0x8448eb211c80319c, 0xb7ad6b7169203331, true};
  span.parent = 0x00f067aa0ba902b7;
  span.kind = SpanKind::kServer;
  span.what = "tier1/3.Search";
  span.end = {1'700'000'000'000'000'000};
  span.duration = std::chrono::milliseconds(25);
  span.queue_time = std::chrono::milliseconds(5);
  return span;
}

json TheSpan(const std::string& line) {
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const json document = json::parse(line);
  const json& resource = document["resourceSpans"][0];
  EXPECT_EQ(resource["resource"]["attributes"][1]["value"]["stringValue"], "store-1");
  return resource["scopeSpans"][0]["spans"][0];
}

TEST(SpanTextTest, LineIsWhatCollectorsTake) {
  const json span = TheSpan(OtlpLine(SomeSpan(), "store-1"));
  EXPECT_EQ(span["traceId"], "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(span["spanId"], "b7ad6b7169203331");
  EXPECT_EQ(span["parentSpanId"], "00f067aa0ba902b7");
  EXPECT_EQ(span["kind"], 2);
  EXPECT_EQ(span["startTimeUnixNano"], "1699999999975000000");
  EXPECT_EQ(span["endTimeUnixNano"], "1700000000000000000");
  EXPECT_EQ(span["attributes"][0]["key"], "neptune.queue_ms");
  EXPECT_EQ(span["attributes"][0]["value"]["doubleValue"], 5.0);
  EXPECT_FALSE(span.contains("status"));
}

TEST(SpanTextTest, FailureIsAnErrorAndNamesDoNotBreakTheLine) {
  Span span = SomeSpan();
  span.kind = SpanKind::kCaller;
  span.parent = 0;
  span.peer = "store\n\xff";
  span.outcome = StatusCode::kDeadlineExceeded;
  const json shown = TheSpan(OtlpLine(span, "store-1"));
  EXPECT_EQ(shown["kind"], 3);
  EXPECT_FALSE(shown.contains("parentSpanId"));
  EXPECT_EQ(shown["status"]["code"], 2);
  EXPECT_EQ(shown["status"]["message"], "DEADLINE_EXCEEDED");
}

}  // namespace
}  // namespace neptune
