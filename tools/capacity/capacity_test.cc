#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "neptune/world/random_source.h"
#include "tools/capacity/capacity_search.h"
#include "tools/replay/goal.h"

namespace search::tools {
namespace {

// Plays the search against a service; returns the rates that were tried.
std::vector<double> Play(CapacitySearch* search, const std::function<bool(double)>& meets) {
  std::vector<double> rates;
  while (search->Next()) {
    rates.push_back(*search->Next());
    search->Record(meets(rates.back()));
  }
  return rates;
}

TEST(CapacitySearchTest, FindsTheEdgeWithinItsPrecision) {
  for (const double edge : {0.5, 9.0, 11.0, 737.0, 64'000.0}) {
    CapacitySearch search({});
    const auto rates = Play(&search, [edge](double rate) { return rate <= edge; });
    ASSERT_TRUE(search.capacity().has_value()) << edge;
    EXPECT_LE(*search.capacity(), edge);
    EXPECT_GE(*search.capacity() * 1.05, edge * (1 - 1e-9));
    EXPECT_LE(rates.size(), 30u);
  }
}

TEST(CapacitySearchTest, TheAnswerWasMetThreeTimes) {
  CapacitySearch search({});
  const auto rates = Play(&search, [](double rate) { return rate <= 100; });
  int met = 0;
  for (const double rate : rates) met += rate == *search.capacity();
  EXPECT_EQ(met, 3);
}

TEST(CapacitySearchTest, ARateThatFailsItsConfirmationIsLowered) {
  int trials_near_edge = 0;
  CapacitySearch search({});
  Play(&search, [&](double rate) {
    if (rate > 100) return false;
    // Just below the edge only the first trial succeeds.
    return rate < 90 || ++trials_near_edge == 1;
  });
  ASSERT_TRUE(search.capacity().has_value());
  EXPECT_LT(*search.capacity(), 90);
  EXPECT_GT(*search.capacity(), 80);
}

TEST(CapacitySearchTest, AGoalOutOfReachHasNoCapacity) {
  CapacitySearch search({.rate_min = 1});
  const auto rates = Play(&search, [](double) { return false; });
  EXPECT_FALSE(search.capacity().has_value());
  EXPECT_EQ(rates.back(), 1);
}

TEST(CapacitySearchTest, TheHighestRateAllowedIsALowerBound) {
  CapacitySearch search({.rate_max = 1000});
  Play(&search, [](double) { return true; });
  EXPECT_EQ(search.capacity(), 1000);
  EXPECT_TRUE(search.at_rate_max());
}

TEST(CapacitySearchTest, EndsAgainstAServiceOfMoods) {
  neptune::RandomSource random(3);
  CapacitySearch search({});
  const auto rates = Play(&search, [&](double) { return random.Uniform() < 0.6; });
  EXPECT_LE(rates.size(), static_cast<size_t>(CapacitySearch::kTrialCountMax));
}

RunSummary SummaryOf(int64_t latency_ms, float quality, int lost_count) {
  std::vector<Measurement> measurements;
  for (int i = 0; i < 100; ++i) {
    const bool lost = i < lost_count;
    measurements.push_back({.intended_ns = i,
                            .sent_ns = i,
                            .done_ns = i + latency_ms * 1'000'000,
                            .outcome = lost ? Outcome::kRejected : Outcome::kAnswered,
                            .quality = lost ? 0 : quality});
  }
  return Summarize({.duration_s = 1, .classes = {"gold"}}, measurements, true);
}

bool Meets(const char* goal, const RunSummary& summary) {
  const auto parsed = Goal::Parse(goal);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return AllMet(parsed->Check(summary));
}

TEST(GoalTest, EachFigureIsHeldAgainstItsBound) {
  const RunSummary summary = SummaryOf(100, 0.9f, 0);
  EXPECT_TRUE(Meets("p99:0.2s,coverage:0.89,gold.p50:101,loss:0,yield:1", summary));
  EXPECT_FALSE(Meets("p99:99ms", summary));
  EXPECT_FALSE(Meets("coverage:0.95", summary));
  EXPECT_FALSE(Meets("silver.p99:1s", summary));
}

TEST(GoalTest, LostRequestsSpoilPercentiles) {
  EXPECT_FALSE(Meets("p99:200ms", SummaryOf(100, 1, 5)));
  EXPECT_TRUE(Meets("p90:200ms,loss:0.05", SummaryOf(100, 1, 5)));
  EXPECT_FALSE(Meets("loss:0.01", SummaryOf(100, 1, 5)));
}

TEST(GoalTest, OtherTextIsRefused) {
  for (const char* text :
       {"", "p99", "p98:3", "p99:x", "coverage:2", "loss:-1", "a.b.c:1", "p99:1m"}) {
    EXPECT_FALSE(Goal::Parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace search::tools
