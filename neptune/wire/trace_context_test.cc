#include "neptune/wire/trace_context.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

constexpr char kExample[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceContextTest, TraceparentRoundTrips) {
  const auto trace = ParseTraceparent(kExample);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->trace_high, 0x0af7651916cd43dd);
  EXPECT_EQ(trace->trace_low, 0x8448eb211c80319c);
  EXPECT_EQ(trace->span, 0xb7ad6b7169203331);
  EXPECT_TRUE(trace->sampled);
  EXPECT_EQ(FormatTraceparent(*trace), kExample);
}

TEST(TraceContextTest, OnlyTheFirstFlagIsKnown) {
  EXPECT_FALSE(
      ParseTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-fe")->sampled);
}

TEST(TraceContextTest, LaterVersionsMayBeLonger) {
  EXPECT_TRUE(
      ParseTraceparent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more").ok());
}

TEST(TraceContextTest, AnythingElseIsRefused) {
  for (const char* text : {
           "",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
           "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
           "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319 -b7ad6b7169203331-01",
       }) {
    EXPECT_FALSE(ParseTraceparent(text).ok()) << text;
  }
}

TEST(TraceContextTest, ChildrenShareTheTraceAndDifferInTheSpan) {
  RandomSource random(1);
  const TraceContext root = NewTrace(random, /*sampled=*/true);
  EXPECT_TRUE(root.present());
  const TraceContext child = ChildOf(root, random);
  EXPECT_EQ(child.trace_high, root.trace_high);
  EXPECT_EQ(child.trace_low, root.trace_low);
  EXPECT_TRUE(child.sampled);
  EXPECT_NE(child.span, root.span);
}

}  // namespace
}  // namespace neptune
