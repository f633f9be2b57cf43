#include "neptune/mtrr/thread_plan.h"

#include <gtest/gtest.h>

#include <limits>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

// Tries every allocation.
double LeastCostByTrial(const PlanInput& input, std::vector<int>* threads, size_t number) {
  double least = std::numeric_limits<double>::infinity();
  if (number == input.classes.size()) {
    int all = 0;
    for (const int one : *threads) all += one;
    if (all > input.thread_count_max) return least;
    double cost = 0;
    for (size_t i = 0; i < input.classes.size(); ++i) {
      const PlannedClass& one = input.classes[i];
      const double response_s =
          PredictResponse({one.arrival_rate, input.service_rate, input.speedup, (*threads)[i],
                           one.queue_length_max, all - (*threads)[i]})
              ->response_s;
      if (one.response_max_s && response_s > *one.response_max_s) return least;
      cost += one.holding_cost ? one.holding_cost(response_s) : response_s;
    }
    return cost;
  }
  for (int own = 1; own <= input.thread_count_max; ++own) {
    threads->push_back(own);
    least = std::min(least, LeastCostByTrial(input, threads, number + 1));
    threads->pop_back();
  }
  return least;
}

TEST(ThreadPlanTest, CostEqualsThatOfTheBestAllocation) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomSource random(seed);
    PlanInput input;
    input.service_rate = 50;
    input.speedup = *Speedup::Make(random.Uniform() / 2, 1 + static_cast<int>(random.Below(12)));
    input.thread_count_max = 8 + static_cast<int>(random.Below(5));
    const size_t count = 2 + random.Below(2);
    for (size_t i = 0; i < count; ++i) {
      const double weight = 1 + 9 * random.Uniform();
      input.classes.push_back({.name = StrCat("class", i),
                               .arrival_rate = 5 + 60 * random.Uniform(),
                               .queue_length_max = static_cast<int>(random.Below(64)),
                               .holding_cost = [weight](double s) { return weight * s * s; },
                               .response_max_s = {}});
    }
    if (random.Below(2) == 0) input.classes[0].response_max_s = 0.5;
    std::vector<int> threads;
    const double least = LeastCostByTrial(input, &threads, 0);
    const StatusOr<ThreadPlan> plan = PlanThreads(input);
    if (least == std::numeric_limits<double>::infinity()) {
      EXPECT_EQ(plan.status().code(), StatusCode::kFailedPrecondition);
      continue;
    }
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_NEAR(plan->cost / least, 1, 1e-9);
    int all = 0;
    double cost = 0;
    for (const PlannedThreads& one : plan->classes) {
      all += one.thread_count;
      cost += one.cost;
    }
    EXPECT_EQ(all, plan->thread_count);
    EXPECT_LE(all, input.thread_count_max);
    EXPECT_NEAR(cost / least, 1, 1e-9);
  }
}

PlanInput TwoClasses() {
  PlanInput input;
  input.service_rate = 50;
  input.speedup = *Speedup::Make(0.14, 23);
  input.thread_count_max = 32;
  input.classes = {{.name = "high",
                    .arrival_rate = 100,
                    .queue_length_max = 128,
                    .holding_cost = {},
                    .response_max_s = 0.5},
                   {.name = "low",
                    .arrival_rate = 100,
                    .queue_length_max = 128,
                    .holding_cost = {},
                    .response_max_s = {}}};
  return input;
}

TEST(ThreadPlanTest, HighClassIsKeptInTimeWhateverTheLowOneDoes) {
  PlanInput input = TwoClasses();
  input.classes[0].holding_cost = [](double s) { return 10 * s; };
  const ThreadPlan plan = *PlanThreads(input);
  EXPECT_LE(plan.classes[0].worst_case.response_s, 0.5);
  EXPECT_GT(plan.classes[0].thread_count, plan.classes[1].thread_count);
}

TEST(ThreadPlanTest, ThreadsBesideTheClassesTakeTheirTurnsToo) {
  PlanInput input = TwoClasses();
  input.classes[0].response_max_s = {};
  const ThreadPlan alone = *PlanThreads(input);
  input.other_thread_count = 8;
  const ThreadPlan beside = *PlanThreads(input);
  EXPECT_GT(beside.cost, alone.cost);
  EXPECT_LE(beside.thread_count, input.thread_count_max - 8);
  const PlannedThreads& high = beside.classes[0];
  EXPECT_DOUBLE_EQ(high.worst_case.response_s,
                   PredictResponse({100, 50, input.speedup, high.thread_count, 128,
                                    beside.thread_count - high.thread_count + 8})
                       ->response_s);
  input.other_thread_count = 31;
  EXPECT_EQ(PlanThreads(input).status().code(), StatusCode::kInvalidArgument);
}

TEST(ThreadPlanTest, AClassStandsInAPlanOnce) {
  PlanInput input = TwoClasses();
  input.classes[1].name = "high";
  EXPECT_EQ(PlanThreads(input).status().code(), StatusCode::kInvalidArgument);
}

TEST(ThreadPlanTest, AnInfeasibleLimitNamesTheClass) {
  PlanInput input = TwoClasses();
  input.classes[0].response_max_s = 0.001;
  const Status refused = PlanThreads(input).status();
  EXPECT_EQ(refused.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.message().find("'high'"), std::string_view::npos) << refused;
  // Each class could have nine of ten threads, but not both.
  input = TwoClasses();
  input.thread_count_max = 10;
  for (PlannedClass& one : input.classes) {
    one.arrival_rate = 60;
    one.response_max_s = 0.5;
  }
  const Status too_few = PlanThreads(input).status();
  EXPECT_EQ(too_few.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(too_few.message().find("10 threads are not enough"), std::string_view::npos) << too_few;
}

TEST(ThreadPlanTest, RefusesInvalidInput) {
  const auto fault = [](auto change) {
    PlanInput input = TwoClasses();
    change(input);
    return PlanThreads(input).status().code() == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(fault([](PlanInput& i) { i.classes.clear(); }));
  EXPECT_TRUE(fault([](PlanInput& i) { i.thread_count_max = 1; }));
  EXPECT_TRUE(fault([](PlanInput& i) { i.thread_count_max = kPlannedThreadCountMax + 1; }));
  EXPECT_TRUE(fault([](PlanInput& i) { i.classes[0].arrival_rate = -1; }));
  EXPECT_TRUE(fault([](PlanInput& i) { i.classes[1].response_max_s = 0; }));
  EXPECT_TRUE(fault([](PlanInput& i) { i.service_rate = 0; }));
  EXPECT_TRUE(fault([](PlanInput& i) { i.classes.resize(kPlannedClassCountMax + 1); }));
}

}  // namespace
}  // namespace neptune
