// Order in which the built-in policies start waiting calls.

#include "neptune/capsule/capsule_policy.h"

#include <gtest/gtest.h>

#include <vector>

namespace neptune {
namespace {

struct Call {
  uint64_t id;
  uint64_t caller = 0;
  int priority = 0;
};

void Wait(CapsulePolicy& policy, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    policy.Wait({.id = call.id, .caller = call.caller, .priority = call.priority});
  }
}

std::vector<uint64_t> Turns(CapsulePolicy& policy) {
  std::vector<uint64_t> turns;
  while (const auto id = policy.Next({})) turns.push_back(*id);
  return turns;
}

TEST(FifoPolicyTest, TheFirstToComeIsTheFirstToGo) {
  const auto policy = MakeFifoPolicy();
  Wait(*policy, {{1}, {2}, {3}});
  EXPECT_EQ(Turns(*policy), (std::vector<uint64_t>{1, 2, 3}));
}

TEST(FifoPolicyTest, ACallThatGivesUpHasNoTurn) {
  const auto policy = MakeFifoPolicy();
  Wait(*policy, {{1}, {2}, {3}});
  policy->Forget(2);
  EXPECT_EQ(Turns(*policy), (std::vector<uint64_t>{1, 3}));
}

TEST(RoundRobinPolicyTest, EachCallerHasOneTurnAfterTheOther) {
  const auto policy = MakeRoundRobinPolicy();
  Wait(*policy, {{1, 7}, {2, 7}, {3, 7}, {4, 8}, {5, 9}, {6, 8}});
  EXPECT_EQ(Turns(*policy), (std::vector<uint64_t>{1, 4, 5, 2, 6, 3}));
}

TEST(RoundRobinPolicyTest, ACallerThatGaveUpAndCameAgainHasOneTurnOnly) {
  const auto policy = MakeRoundRobinPolicy();
  Wait(*policy, {{1, 7}, {2, 8}});
  policy->Forget(1);
  Wait(*policy, {{3, 7}, {4, 7}, {5, 8}});
  EXPECT_EQ(Turns(*policy), (std::vector<uint64_t>{2, 3, 5, 4}));
}

TEST(PriorityPolicyTest, TheHighestClassGoesFirstAndEqualsInTheirOrder) {
  const auto policy = MakePriorityPolicy();
  Wait(*policy, {{1, 0, 2}, {2, 0, 1}, {3, 0, 0}, {4, 0, 1}, {5, 0, 2}});
  policy->Forget(1);
  EXPECT_EQ(Turns(*policy), (std::vector<uint64_t>{3, 2, 4, 5}));
}

TEST(PriorityPolicyTest, ClassesThatAreNotNamedComeLast) {
  const PolicyConfig config{PolicyKind::kPriority, {"gold", "silver"}, {}, {}};
  EXPECT_EQ(PriorityOf(config, "gold"), 0);
  EXPECT_EQ(PriorityOf(config, "silver"), 1);
  EXPECT_EQ(PriorityOf(config, ""), 2);
}

TEST(PolicyTest, ForgettingACallThatDoesNotWaitChangesNothing) {
  for (const PolicyKind kind :
       {PolicyKind::kFifo, PolicyKind::kRoundRobin, PolicyKind::kPriority}) {
    const auto policy = MakeBuiltInPolicy(kind);
    Wait(*policy, {{1, 3}});
    policy->Forget(9);
    EXPECT_EQ(Turns(*policy), (std::vector<uint64_t>{1}));
    policy->Forget(1);
    EXPECT_EQ(policy->Next({}), std::nullopt);
  }
}

}  // namespace
}  // namespace neptune
