// Whatever servers report, each expected partition is listed once.

#include "neptune/dac/partition_account.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace neptune {
namespace {

std::vector<PartitionId> Ids(std::initializer_list<uint32_t> numbers) {
  std::vector<PartitionId> ids;
  for (const uint32_t number : numbers) ids.emplace_back(number);
  return ids;
}

std::vector<PartitionId> MissingOf(const AggregationAnswer& answer) {
  std::vector<PartitionId> ids;
  for (const MissingPartition& missing : answer.missing) ids.push_back(missing.partition);
  return ids;
}

const Status kUnlisted = DeadlineExceeded("no result");

TEST(PartitionAccountTest, UnlistedPartitionIsMissingWithTheReason) {
  AggregationAnswer answer;
  answer.contributing = Ids({2});
  answer.missing = {{PartitionId(3), Internal("broken")}};
  BalanceAccount(Ids({3, 1, 2}), kUnlisted, &answer);
  EXPECT_EQ(answer.contributing, Ids({2}));
  EXPECT_EQ(MissingOf(answer), Ids({3, 1}));
  EXPECT_EQ(answer.missing[0].reason, Internal("broken"));
  EXPECT_EQ(answer.missing[1].reason, kUnlisted);
}

TEST(PartitionAccountTest, PartitionThatContributedIsNotMissingToo) {
  AggregationAnswer answer;
  answer.contributing = Ids({1, 1});
  answer.missing = {{PartitionId(1), kUnlisted}};
  BalanceAccount(Ids({1}), kUnlisted, &answer);
  EXPECT_EQ(answer.contributing, Ids({1}));
  EXPECT_TRUE(answer.missing.empty());
}

TEST(PartitionAccountTest, UnexpectedPartitionsAreDropped) {
  AggregationAnswer answer;
  answer.contributing = Ids({1, 7});
  answer.missing = {{PartitionId(8), kUnlisted}};
  answer.ended_early = Ids({9, 1, 1});
  BalanceAccount(Ids({1}), kUnlisted, &answer);
  EXPECT_EQ(answer.contributing, Ids({1}));
  EXPECT_TRUE(answer.missing.empty());
  EXPECT_EQ(answer.ended_early, Ids({1}));
}

}  // namespace
}  // namespace neptune
