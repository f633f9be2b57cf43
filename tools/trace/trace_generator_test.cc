// The fit of the profiles in data/traces to the published figures, and that a seed gives the same
// bytes.

#include "tools/trace/trace_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tools/trace/arrival_process.h"
#include "tools/trace/query_import.h"
#include "tools/trace/query_stream.h"
#include "tools/trace/trace_file.h"
#include "tools/trace/trace_profile.h"
#include "tools/trace/trace_statistics.h"

namespace search::tools {
namespace {

constexpr uint64_t kSeeds[] = {1, 2};

TraceProfile Profile(const std::string& name) {
  auto profile = LoadTraceProfile("data/traces/" + name + ".textproto");
  EXPECT_TRUE(profile.ok()) << profile.status();
  return *std::move(profile);
}

std::vector<std::string> ShippedQueries() { return *ReadQueryList("data/traces/queries.txt"); }

std::vector<TraceRecord> Generate(const TraceProfile& profile, uint64_t seed) {
  std::vector<TraceRecord> records;
  EXPECT_TRUE(GenerateTrace(profile, ShippedQueries(), seed, [&](const TraceRecord& record) {
                records.push_back(record);
                return neptune::OkStatus();
              }).ok());
  return records;
}

TraceStatistics StatisticsOf(const std::vector<TraceRecord>& records) {
  TraceObserver observer;
  for (const TraceRecord& record : records) observer.Add(record);
  return observer.Finish();
}

TraceStatistics GeneratedStatistics(const TraceProfile& profile, uint64_t seed) {
  TraceObserver observer;
  EXPECT_TRUE(GenerateTrace(profile, ShippedQueries(), seed, [&](const TraceRecord& record) {
                observer.Add(record);
                return neptune::OkStatus();
              }).ok());
  return observer.Finish();
}

class FitTest : public testing::TestWithParam<std::string> {};

TEST_P(FitTest, MadeTracesHaveThePublishedFigures) {
  const TraceProfile profile = Profile(GetParam());
  ASSERT_GT(profile.published_size(), 0);
  for (const uint64_t seed : kSeeds) {
    const auto fit = CompareWithPublished(profile, GeneratedStatistics(profile, seed));
    ASSERT_TRUE(fit.ok()) << fit.status();
    for (const FitLine& line : *fit) {
      EXPECT_TRUE(line.holds()) << "seed " << seed << "\n" << DescribeFit(*fit);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, FitTest,
                         testing::Values("ask_peak", "ask_day", "fine_grain", "medium_grain"));

TEST(AskPeakTest, ClassesHaveTheirSharesAndQueriesTheirPopularity) {
  const TraceStatistics made = GeneratedStatistics(Profile("ask_peak"), 1);
  const double all = static_cast<double>(made.all.count);
  EXPECT_NEAR(made.classes.at("gold").count / all, 0.1, 0.002);
  EXPECT_NEAR(made.classes.at("silver").count / all, 0.3, 0.003);
  EXPECT_NEAR(made.classes.at("bronze").count / all, 0.6, 0.003);
  EXPECT_NEAR(made.zipf_exponent, 0.8, 0.1);
}

TEST(AskDayTest, BusyHoursHaveTheGapsOfAskPeakAndBurstsStandOut) {
  TraceObserver day;
  TraceObserver busy_hours;
  EXPECT_TRUE(
      GenerateTrace(Profile("ask_day"), ShippedQueries(), 1, [&](const TraceRecord& record) {
        const uint64_t hour = record.time_us / 3'600'000'000;
        if (hour >= 11 && hour < 18) busy_hours.Add(record);
        day.Add(record);
        return neptune::OkStatus();
      }).ok());
  EXPECT_NEAR(busy_hours.Finish().all.mean_ms, 49.7, 0.1 * 49.7);
  EXPECT_GT(day.Finish().peak_minute, 1.2 * day.Finish().peak_hour);
}

TEST(TraceGeneratorTest, ShippedSampleIsWhatItsProfileAndSeedGive) {
  TraceProfile profile = Profile("ask_peak");
  profile.set_duration_s(120);
  const auto sample = ReadTrace("data/traces/sample.trace.gz", BadLines::kFail);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_TRUE(sample->records == Generate(profile, 1));
}

TEST(TraceGeneratorTest, AnotherSeedGivesAnotherTrace) {
  TraceProfile profile = Profile("ask_peak");
  profile.set_duration_s(10);
  EXPECT_TRUE(Generate(profile, 5) == Generate(profile, 5));
  EXPECT_FALSE(Generate(profile, 5) == Generate(profile, 6));
}

TEST(QueryStreamTest, ComposedQueriesAreNewAndFitTheFormat) {
  TraceProfile profile;
  profile.set_repeat_share(0);
  profile.set_zipf_exponent(1);
  QueryStream stream({"alpha beta", "gamma"}, profile, 1);
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string query = stream.Next();
    EXPECT_TRUE(CheckTraceQuery(query).ok()) << query;
    EXPECT_TRUE(seen.insert(query).second) << query;
  }
  EXPECT_EQ(stream.composed_count(), 198u);
}

TEST(DrawZipfTest, FrequenciesFollowTheLaw) {
  for (const double exponent : {0.5, 0.8, 1.0, 1.7}) {
    constexpr uint64_t kRanks = 50;
    constexpr int kDraws = 200'000;
    neptune::RandomSource random(11);
    std::vector<double> drawn(kRanks + 1);
    for (int i = 0; i < kDraws; ++i) ++drawn[DrawZipf(random, exponent, kRanks)];
    double weight_sum = 0;
    for (uint64_t k = 1; k <= kRanks; ++k) weight_sum += std::pow(k, -exponent);
    double chi_square = 0;
    for (uint64_t k = 1; k <= kRanks; ++k) {
      const double expected = kDraws * std::pow(k, -exponent) / weight_sum;
      chi_square += (drawn[k] - expected) * (drawn[k] - expected) / expected;
    }
    EXPECT_LT(chi_square, 85.4) << exponent;  // 49 degrees of freedom, one in a thousand
  }
}

TEST(SharpenCurveTest, PeakIsTheWantedMultipleOfTheMean) {
  const std::vector<double> sharp = SharpenCurve({1, 2, 3, 4, 3, 2, 1, 1}, 3);
  const double mean = std::accumulate(sharp.begin(), sharp.end(), 0.0) / 8;
  EXPECT_NEAR(*std::max_element(sharp.begin(), sharp.end()) / mean, 3, 1e-6);
  EXPECT_EQ(SharpenCurve({5, 5}, 3), (std::vector<double>{5, 5}));
}

TEST(ArrivalProcessTest, GammaGapsHaveTheirVariation) {
  for (const double variation : {0.3, 0.8, 1.0, 1.5}) {
    TraceProfile profile;
    profile.set_duration_s(1e6);
    profile.set_gap_mean_ms(10);
    profile.set_gap_variation(variation);
    ArrivalProcess arrivals(profile, 3);
    TraceObserver observer;
    for (int i = 0; i < 100'000; ++i) {
      observer.Add({static_cast<uint64_t>(arrivals.NextUs()), "x", "q"});
    }
    const GapStatistics gaps = observer.Finish().all;
    EXPECT_NEAR(gaps.mean_ms, 10, 0.15) << variation;
    EXPECT_NEAR(gaps.deviation_ms / gaps.mean_ms, variation, 0.02 * variation) << variation;
  }
}

TEST(TraceProfileTest, ImpossibleValuesAreNamed) {
  const TraceProfile good = Profile("ask_peak");
  const auto refused = [&](auto change) {
    TraceProfile profile = good;
    change(profile);
    return std::string(neptune::ToStd(CheckTraceProfile(profile).message()));
  };
  EXPECT_NE(refused([](TraceProfile& p) { p.set_gap_mean_ms(0); }).find("gap_mean_ms"),
            std::string::npos);
  EXPECT_NE(refused([](TraceProfile& p) { p.set_duration_s(1e12); }).find("duration_s"),
            std::string::npos);
  EXPECT_NE(refused([](TraceProfile& p) { p.set_repeat_share(1); }).find("repeat_share"),
            std::string::npos);
  EXPECT_NE(refused([](TraceProfile& p) { p.mutable_classes(0)->set_share(0.2); }).find("classes"),
            std::string::npos);
  EXPECT_NE(refused([](TraceProfile& p) { p.mutable_curve()->add_hourly_rates(1); }).find("curve"),
            std::string::npos);
  EXPECT_NE(refused([](TraceProfile& p) { p.mutable_bursts()->set_factor(0.5); }).find("bursts"),
            std::string::npos);
}

TEST(TraceStatisticsTest, CountsAnExampleByHand) {
  const TraceStatistics made = StatisticsOf(
      {{0, "gold", "a"}, {1000, "silver", "b"}, {3000, "gold", "a"}, {7000, "gold", "c"}});
  EXPECT_EQ(made.all.count, 4u);
  EXPECT_NEAR(made.all.mean_ms, 7.0 / 3, 1e-9);
  EXPECT_NEAR(made.all.deviation_ms,
              std::sqrt(((1 - 7.0 / 3) * (1 - 7.0 / 3) + (2 - 7.0 / 3) * (2 - 7.0 / 3) +
                         (4 - 7.0 / 3) * (4 - 7.0 / 3)) /
                        3),
              1e-9);
  EXPECT_EQ(made.fresh.count, 3u);
  EXPECT_NEAR(made.fresh.mean_ms, 3.5, 1e-9);
  EXPECT_DOUBLE_EQ(made.repeat_share, 0.25);
  EXPECT_EQ(made.classes.at("gold").count, 3u);
  EXPECT_EQ(made.top_queries.front().first, "a");
}

}  // namespace
}  // namespace search::tools
