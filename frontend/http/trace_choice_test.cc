#include "frontend/http/trace_choice.h"

#include <gtest/gtest.h>

#include <string>

namespace search::frontend {
namespace {

constexpr char kId[] = "0af7651916cd43dd8448eb211c80319c";
constexpr char kSampled[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr char kNotSampled[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
constexpr int kCount = 10'000;

class TraceChoiceTest : public testing::Test {
 protected:
  // How many of many requests with this traceparent are sampled at a share of a tenth.
  int SampledOf(const char* traceparent, bool is_operator) {
    int sampled = 0;
    for (int i = 0; i < kCount; ++i) {
      const auto trace = ChooseTrace(traceparent, 0.1, random_, [&] { return is_operator; });
      sampled += trace.sampled ? 1 : 0;
    }
    return sampled;
  }

  neptune::RandomSource random_{7};
};

TEST_F(TraceChoiceTest, AnOperatorsFlagCounts) {
  EXPECT_EQ(SampledOf(kSampled, true), kCount);
  EXPECT_EQ(SampledOf(kNotSampled, true), 0);
}

TEST_F(TraceChoiceTest, AStrangersFlagCountsAsTheShare) {
  EXPECT_NEAR(SampledOf(kSampled, false), kCount / 10, kCount / 50);
  EXPECT_EQ(SampledOf(kNotSampled, false), 0);
}

TEST_F(TraceChoiceTest, AStrangersTraceIsContinued) {
  const auto trace = ChooseTrace(kSampled, 0, random_, [] { return false; });
  EXPECT_EQ(neptune::TraceIdText(trace), kId);
  EXPECT_FALSE(trace.sampled);
}

TEST_F(TraceChoiceTest, WithoutATraceOneBegins) {
  for (const char* traceparent : {"", "00-malformed"}) {
    const auto trace = ChooseTrace(traceparent, 1, random_, [] { return false; });
    EXPECT_TRUE(trace.present());
    EXPECT_NE(neptune::TraceIdText(trace), kId);
    EXPECT_TRUE(trace.sampled);
  }
}

}  // namespace
}  // namespace search::frontend
