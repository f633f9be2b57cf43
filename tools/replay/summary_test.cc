#include "tools/replay/summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/replay/answer_facts.h"
#include "tools/replay/event_list.h"
#include "tools/replay/hdr_text.h"
#include "tools/replay/replay_plan.h"
#include "tools/replay/report.h"

namespace search::tools {
namespace {

constexpr int64_t kMs = 1'000'000;

RunSetup TwoClasses() {
  return {.duration_s = 10,
          .warmup_s = 1,
          .timeout_s = 5,
          .planned_count = 4,
          .classes = {"gold", "bronze"}};
}

Measurement Answered(int64_t intended_ms, int64_t latency_ms, uint8_t service_class,
                     float quality) {
  return {.intended_ns = intended_ms * kMs,
          .sent_ns = intended_ms * kMs,
          .done_ns = (intended_ms + latency_ms) * kMs,
          .service_class = service_class,
          .cache = CacheFact::kMiss,
          .quality = quality};
}

Measurement Lost(int64_t intended_ms, Outcome outcome, uint8_t service_class) {
  return {.intended_ns = intended_ms * kMs,
          .sent_ns = intended_ms * kMs,
          .done_ns = (intended_ms + 1) * kMs,
          .service_class = service_class,
          .outcome = outcome};
}

TEST(SummaryTest, CountsAnExampleByHand) {
  const RunSummary s = Summarize(TwoClasses(),
                                 {Answered(500, 9000, 0, 1),  // warm-up
                                  Answered(1000, 10, 0, 1), Answered(2000, 30, 1, 0.5),
                                  Answered(3000, 3000, 1, 1),  // after the deadline
                                  Lost(4000, Outcome::kRejected, 0)},
                                 /*complete=*/true);
  EXPECT_TRUE(s.valid()) << s.invalid;
  EXPECT_EQ(s.window_s, 9);
  EXPECT_EQ(s.all.request_count(), 4u);
  EXPECT_EQ(s.all.answered_count(), 3u);
  EXPECT_DOUBLE_EQ(s.all.LossShare(), 0.25);
  EXPECT_EQ(s.all.yield_offered, 4 + 1 + 1 + 4);
  EXPECT_EQ(s.all.yield, 4 + 1 + 0);
  EXPECT_DOUBLE_EQ(s.all.LossPercent(), 50);
  EXPECT_DOUBLE_EQ(s.all.Coverage(), 2.5 / 3);
  EXPECT_DOUBLE_EQ(s.QualityThroughput(), 1.5 / 9);
  EXPECT_EQ(s.all.partial_count, 1u);
  EXPECT_EQ(s.all.latency.max(), 5'000'000'000u);
  EXPECT_EQ(s.classes.at("gold").request_count(), 2u);
  EXPECT_EQ(s.all.CacheHitShare(), 0);
}

TEST(SummaryTest, ALateGeneratorSpoilsTheRun) {
  Measurement late = Answered(2000, 10, 0, 1);
  late.sent_ns += 3 * kMs;
  RunSetup setup = TwoClasses();
  EXPECT_NE(Summarize(setup, {late}, true).invalid.find("3.0"), std::string::npos);
  setup.lateness_p99_ms_max = 4;
  EXPECT_TRUE(Summarize(setup, {late}, true).valid());
}

TEST(SummaryTest, JsonHoldsTheFiguresAndTheSetUp) {
  const RunSetup setup = TwoClasses();
  const auto json =
      nlohmann::json::parse(SummaryJson(setup, Summarize(setup, {Answered(1000, 10, 0, 1)}, true)));
  EXPECT_EQ(json["valid"], true);
  EXPECT_NEAR(json["all"]["latency_ms"]["p99"].get<double>(), 10, 0.02);
  EXPECT_EQ(json["classes"]["gold"]["requests"], 1);
  const auto again = ParseSetupJson(json["setup"].dump());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(SetupJson(*again), SetupJson(setup));
}

TEST(RunSetupTest, OnlyWhatSpoilsAComparisonDiffers) {
  RunSetup a = TwoClasses();
  RunSetup b = a;
  b.label = "other";
  b.target = "http://127.0.0.1:1";
  b.revision = "other";
  EXPECT_TRUE(DifferingFields(a, b).empty());
  b.speed = 2;
  b.trace_xxh3 = "other";
  EXPECT_EQ(DifferingFields(a, b), (std::vector<std::string>{"trace_xxh3", "speed"}));
}

TEST(RunSetupTest, OtherTextIsRefused) {
  for (const char* text :
       {"", "{}", "[]", "{\"events\":3,\"yield_form\":\"x\"}", "{\"speed\":\"x\"}"}) {
    EXPECT_FALSE(ParseSetupJson(text).ok()) << text;
  }
}

TEST(YieldTest, FormsAreThoseOfTheSource) {
  YieldOptions options;
  EXPECT_EQ(options.ShareAfter(2), 1);
  EXPECT_EQ(options.ShareAfter(2.001), 0);
  options.form = YieldForm::kResponseTime;
  EXPECT_EQ(options.ShareAfter(0.5), 0.75);
  options.form = YieldForm::kHybrid;
  EXPECT_EQ(options.ShareAfter(1), 1);
  EXPECT_EQ(options.ShareAfter(1.5), 0.75);
  EXPECT_EQ(options.ShareAfter(2), 0.5);
  EXPECT_EQ(options.FullOf("gold"), 4);
  EXPECT_EQ(options.FullOf("other"), 1);
  EXPECT_FALSE(ParseYields("gold:x").ok());
  EXPECT_EQ(ParseYields("gold:3,b:0.5")->at("b"), 0.5);
}

TEST(ReplayPlanTest, ScalesCutsAndRepeats) {
  const std::vector<TraceRecord> trace = {
      {0, "gold", "a"}, {1'000'000, "bronze", "b"}, {2'000'000, "gold", "a"}};
  const auto twice_as_fast = MakeReplayPlan(trace, {.speed = 2});
  ASSERT_TRUE(twice_as_fast.ok());
  EXPECT_EQ(twice_as_fast->length_ns(), 1'000'000'000);
  EXPECT_EQ(twice_as_fast->queries, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(MakeReplayPlan(trace, {.duration_s = 1.5})->requests.size(), 2u);
  const auto repeated = MakeReplayPlan(trace, {.duration_s = 7, .repeat = true});
  ASSERT_EQ(repeated->requests.size(), 7u);
  EXPECT_EQ(repeated->requests[3].at_ns, 3'000'000'000);
  // The first two requests lie in one second, the third opens the next: two a second at speed 1.
  EXPECT_DOUBLE_EQ(SpeedForRate({{0, "x", "a"}, {500'000, "x", "b"}, {1'000'000, "x", "c"}}, 2, 1),
                   1);
  EXPECT_DOUBLE_EQ(SpeedForRate(trace, 3, 0), 3);
  EXPECT_DOUBLE_EQ(SpeedForRate(trace, 2, 6), 2);
  EXPECT_FALSE(MakeReplayPlan({}, {}).ok());
  EXPECT_FALSE(MakeReplayPlan(trace, {.speed = 0}).ok());
}

TEST(AnswerFactsTest, ReadsCoverageCacheAndTermination) {
  AnswerFactsReader reader;
  const auto facts = reader.Read(
      "{\"query\":\"q\",\"coverage\":{\"complete\":false,\"quality\":0.75,\"tiers\":["
      "{\"service\":\"tier1\",\"evaluated_completely\":false,\"missing\":[]}],"
      "\"documents\":{},\"cache\":{\"outcome\":\"miss\",\"hit\":false}},\"results\":[]}");
  ASSERT_TRUE(facts.has_value());
  EXPECT_FLOAT_EQ(facts->quality, 0.75f);
  EXPECT_EQ(facts->cache, CacheFact::kMiss);
  EXPECT_TRUE(facts->terminated);
  for (const char* other :
       {"", "{}", "[]", "{\"coverage\":3}", "{\"coverage\":{\"quality\":\"x\"}}"}) {
    EXPECT_FALSE(reader.Read(other).has_value()) << other;
  }
}

TEST(AnswerFactsTest, SeesThatAnEarlierSearchOfTheAnswerWasCutShort) {
  const auto read = [](const std::string& complete, const std::string& missing) {
    return AnswerFactsReader().Read("{\"coverage\":{\"complete\":" + complete +
                                    ",\"quality\":1,\"tiers\":[{\"evaluated_completely\":true}],"
                                    "\"documents\":{\"missing\":[" +
                                    missing + "]}}}");
  };
  EXPECT_TRUE(read("false", "")->terminated);
  EXPECT_FALSE(read("true", "")->terminated);
  EXPECT_FALSE(read("false", "{\"partition\":1}")->terminated);
}

TEST(HdrTextTest, PercentileDistributionIsThePlottersText) {
  neptune::Histogram histogram(kLatencyHistogram);
  for (int i = 1; i <= 1000; ++i) histogram.Record(static_cast<uint64_t>(i) * kMs);
  const std::string text = PercentileDistribution(histogram);
  EXPECT_TRUE(
      text.starts_with("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
                       "       1.000 0.000000000000          1           1.00\n"));
  EXPECT_NE(text.find(" 0.500000000000        500           2.00\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    1000.000 1.000000000000       1000\n#[Mean    =      500.5"),
            std::string::npos)
      << text;
}

// Encoded once and read back by the Python library of HdrHistogram.
TEST(HdrTextTest, EncodingBeginsAsEveryCompressedHistogramDoes) {
  neptune::Histogram histogram(kLatencyHistogram);
  histogram.Record(1'500'000, 3);
  EXPECT_TRUE(EncodeHdrHistogram(histogram).starts_with("HISTFAAAA"));
  HdrIntervalLog log(0);
  log.Add("gold", 2, 1, histogram);
  EXPECT_NE(log.text().find("\nTag=gold,2.000,1.000,1.500,HISTFAAAA"), std::string::npos);
}

}  // namespace
}  // namespace search::tools
