#include "neptune/world/sim/fault_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace neptune {
namespace {

using Kind = Fault::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

RandomFaultOptions ThreeHosts() {
  RandomFaultOptions options;
  options.hosts = {"a", "b", "c"};
  options.interval_mean = milliseconds(500);
  return options;
}

FaultPlan Draw(uint64_t seed, const RandomFaultOptions& options) {
  RandomSource random(seed);
  return DrawFaultPlan(random, options);
}

TEST(FaultPlanTest, SameSeedDrawsTheSamePlan) {
  EXPECT_EQ(Draw(7, ThreeHosts()), Draw(7, ThreeHosts()));
  EXPECT_NE(Draw(7, ThreeHosts()), Draw(8, ThreeHosts()));
}

TEST(FaultPlanTest, DrawnPlanIsSortedAndWithinItsHorizon) {
  const FaultPlan plan = Draw(1, ThreeHosts());
  ASSERT_GT(plan.size(), 20u);
  for (size_t i = 1; i < plan.size(); ++i) EXPECT_LE(plan[i - 1].at, plan[i].at);
  EXPECT_LE(plan.back().at, ThreeHosts().horizon);
}

TEST(FaultPlanTest, DrawnPlanEndsEveryFault) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::map<std::pair<std::set<std::string>, std::set<std::string>>, int> cuts;
    std::set<std::string> crashed, paused, slow, displaced;
    std::map<Kind, double> probabilities;
    Fault latency;
    latency.amount = 1;
    for (const auto& [at, fault] : Draw(seed, ThreeHosts())) {
      const std::string host = fault.hosts.empty() ? "" : *fault.hosts.begin();
      switch (fault.kind) {
        case Kind::kCrash:
          EXPECT_TRUE(crashed.insert(host).second);
          break;
        case Kind::kRestart:
          EXPECT_EQ(crashed.erase(host), 1u);
          break;
        case Kind::kPause:
          EXPECT_TRUE(paused.insert(host).second);
          break;
        case Kind::kResume:
          EXPECT_EQ(paused.erase(host), 1u);
          break;
        case Kind::kCut:
        case Kind::kCutOneWay:
        case Kind::kLossOneWay:
          ++cuts[{fault.hosts, fault.others}];
          break;
        case Kind::kHeal:
          --cuts[{fault.hosts, fault.others}];
          break;
        case Kind::kSlowProcessors:
          fault.amount == 1 ? void(slow.erase(host)) : void(slow.insert(host));
          break;
        case Kind::kClockOffset:
          fault.amount == 0 ? void(displaced.erase(host)) : void(displaced.insert(host));
          break;
        case Kind::kLatency:
          latency = fault;
          break;
        case Kind::kDatagramLoss:
        case Kind::kDatagramDuplication:
        case Kind::kDatagramReordering:
        case Kind::kStreamLoss:
          probabilities[fault.kind] = fault.amount;
          break;
      }
      EXPECT_LE(crashed.size() + paused.size(), 1u) << "more hosts down than allowed";
    }
    EXPECT_TRUE(crashed.empty() && paused.empty() && slow.empty() && displaced.empty());
    for (const auto& [sides, count] : cuts) EXPECT_EQ(count, 0);
    EXPECT_EQ(latency.amount, 1);
    EXPECT_EQ(probabilities.size(), 4u) << "not every kind was drawn";
    for (const auto& [kind, probability] : probabilities) EXPECT_EQ(probability, 0);
  }
}

TEST(FaultPlanTest, ScheduledFaultsHappenAtTheirTimes) {
  Simulator simulator(1);
  simulator.AddHost({.name = "a"});
  simulator.AddHost({.name = "b"});
  const auto at = [](int s) { return TimePoint(seconds(s)); };
  ScheduleFaults(simulator, {{at(1), {.kind = Kind::kCrash, .hosts = {"a"}}},
                             {at(3), {.kind = Kind::kRestart, .hosts = {"a"}}},
                             {at(2), {.kind = Kind::kDatagramLoss, .amount = 0.5}},
                             {at(4), {.kind = Kind::kDatagramLoss, .amount = 0}},
                             {at(2), {.kind = Kind::kLatency, .amount = 3}}});
  simulator.RunUntil(at(2));
  EXPECT_FALSE(simulator.host("a").running());
  EXPECT_EQ(simulator.links().datagram_loss, 0.5);
  EXPECT_EQ(simulator.links().latency_factor, 3);
  simulator.RunUntil(at(4));
  EXPECT_TRUE(simulator.host("a").running());
  EXPECT_EQ(simulator.links().datagram_loss, 0);
}

TEST(FaultPlanTest, ClockJumpsThereAndBack) {
  Simulator simulator(1);
  World& world = simulator.AddHost({.name = "a"});
  const auto at = [](int s) { return TimePoint(seconds(s)); };
  const auto shown = [&] {
    return Duration(world.wall_time().ns_since_1970 - SimOptions().wall_time_start_ns);
  };
  const Fault behind = {.kind = Kind::kClockOffset, .hosts = {"a"}, .amount = -60};
  ScheduleFaults(simulator, PlanOf({{at(1), at(3), behind}}));
  simulator.RunUntil(at(2));
  EXPECT_EQ(shown(), seconds(2 - 60));
  simulator.Restart("a");
  EXPECT_EQ(shown(), seconds(2 - 60)) << "a restart does not set the clock";
  simulator.RunUntil(at(4));
  EXPECT_EQ(shown(), seconds(4));
}

TEST(FaultPlanTest, FaultsHaveReadableNames) {
  const Fault cut = {.kind = Kind::kCut, .hosts = {"a", "b"}, .others = {"c"}};
  EXPECT_EQ(cut.ToString(), "cut a,b | c");
  const Fault slow = {.kind = Kind::kSlowProcessors, .hosts = {"a"}, .amount = 4};
  EXPECT_EQ(slow.ToString(), "slow processors a x4");
  const FaultSpan span = {TimePoint(seconds(1)), TimePoint(milliseconds(2500)), slow};
  EXPECT_EQ(span.ToString(), "1-2.5 s slow processors a x4");
}

}  // namespace
}  // namespace neptune
