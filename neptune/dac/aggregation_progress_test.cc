// What a node waits for, reduces next and says in the end, whatever the order of events.

#include "neptune/dac/aggregation_progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using Phase = AggregationProgress::Phase;

std::vector<PartitionId> Partitions(std::vector<uint32_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

void Deliver(AggregationProgress& progress, bool local, uint32_t partition) {
  progress.Settle(local, Data(StrCat(partition)), Partitions({partition}));
}

StatusOr<Data> Sum(const AggregationProgress::Reduction& inputs) {
  return Data(StrCat(std::stoi(inputs.first.bytes()) + std::stoi(inputs.second.bytes())));
}

TEST(AggregationProgressTest, LeafIsReadyWithItsLocalResult) {
  AggregationProgress progress;
  progress.Expect(/*local=*/true);
  EXPECT_EQ(progress.phase(), Phase::kLocal);
  Deliver(progress, /*local=*/true, 3);
  EXPECT_FALSE(progress.NextReduction());
  ASSERT_TRUE(progress.done());
  const auto outcome = progress.ReleaseOutcome();
  EXPECT_EQ(outcome.result->bytes(), "3");
  EXPECT_EQ(outcome.contributing, Partitions({3}));
}

TEST(AggregationProgressTest, PassesThroughTheStatesOfThePaper) {
  AggregationProgress progress;
  progress.Expect(/*local=*/true);
  progress.Expect(/*local=*/false);
  EXPECT_EQ(progress.phase(), Phase::kLocal);
  Deliver(progress, /*local=*/true, 1);
  EXPECT_EQ(progress.phase(), Phase::kWaiting);
  Deliver(progress, /*local=*/false, 2);
  EXPECT_EQ(progress.phase(), Phase::kWaiting);
  const auto inputs = progress.NextReduction();
  ASSERT_TRUE(inputs);
  EXPECT_EQ(progress.phase(), Phase::kWaiting);
  progress.Reduced(Sum(*inputs));
  EXPECT_EQ(progress.phase(), Phase::kReady);
  EXPECT_EQ(progress.ReleaseOutcome().result->bytes(), "3");
}

TEST(AggregationProgressTest, OneReductionAtATime) {
  AggregationProgress progress;
  for (uint32_t i = 0; i < 4; ++i) progress.Expect(/*local=*/false);
  for (uint32_t i = 0; i < 4; ++i) Deliver(progress, /*local=*/false, i);
  const auto inputs = progress.NextReduction();
  ASSERT_TRUE(inputs);
  EXPECT_FALSE(progress.NextReduction());
  progress.Reduced(Sum(*inputs));
  EXPECT_TRUE(progress.NextReduction());
}

// Sources settle and reductions end in any order; the sum is that of the contributors, each counted
// once.
TEST(AggregationProgressTest, AnyOrderGivesTheSequentialResult) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const uint32_t count = 1 + random() % 12;
    AggregationProgress progress;
    std::vector<uint32_t> sources(count);
    std::iota(sources.begin(), sources.end(), 0u);
    for (const uint32_t source : sources) progress.Expect(source % 3 == 0);
    std::shuffle(sources.begin(), sources.end(), random);
    std::optional<AggregationProgress::Reduction> under_way;
    int expected = 0;
    std::set<uint32_t> there;
    const uint32_t expires_at = random() % (2 * count);
    for (uint32_t step = 0; !sources.empty() || under_way; ++step) {
      if (step == expires_at) progress.Expire();
      if (under_way && (sources.empty() || random() % 2 == 0)) {
        progress.Reduced(Sum(*std::exchange(under_way, std::nullopt)));
      } else if (!sources.empty()) {
        const uint32_t source = sources.back();
        sources.pop_back();
        if (random() % 5 == 0) {
          progress.Miss({{PartitionId(source), Internal("failed")}});
          progress.Settle(source % 3 == 0, std::nullopt, {});
        } else {
          Deliver(progress, source % 3 == 0, source);
        }
      }
      if (!under_way) under_way = progress.NextReduction();
    }
    ASSERT_TRUE(progress.done()) << round;
    const auto outcome = progress.ReleaseOutcome();
    for (const PartitionId& partition : outcome.contributing) {
      EXPECT_TRUE(there.insert(partition.value()).second) << round;
      expected += static_cast<int>(partition.value());
    }
    EXPECT_EQ(outcome.result.has_value(), !there.empty());
    EXPECT_EQ(outcome.result.value_or(Data("0")).bytes(), StrCat(expected)) << round;
    for (const MissingPartition& missing : outcome.missing) {
      EXPECT_TRUE(there.insert(missing.partition.value()).second) << round;
    }
  }
}

TEST(AggregationProgressTest, ExpiryKeepsTheResultWithMostContributors) {
  AggregationProgress progress;
  for (int i = 0; i < 5; ++i) progress.Expect(/*local=*/false);
  Deliver(progress, /*local=*/false, 1);
  Deliver(progress, /*local=*/false, 2);
  const auto inputs = progress.NextReduction();
  progress.Settle(/*local=*/false, Data("30"), Partitions({7, 8, 9}));
  progress.Expire();
  EXPECT_FALSE(progress.done());
  progress.Reduced(Sum(*inputs));
  ASSERT_TRUE(progress.done());
  const auto outcome = progress.ReleaseOutcome();
  EXPECT_EQ(outcome.contributing, Partitions({7, 8, 9}));
  EXPECT_EQ(outcome.result->bytes(), "30");
  EXPECT_EQ(outcome.missing.size(), 2u);
  EXPECT_EQ(outcome.missing[0].reason.code(), StatusCode::kDeadlineExceeded);
}

TEST(AggregationProgressTest, LateResultChangesNothing) {
  AggregationProgress progress;
  progress.Expect(/*local=*/true);
  progress.Expect(/*local=*/false);
  Deliver(progress, /*local=*/true, 1);
  progress.Expire();
  ASSERT_TRUE(progress.done());
  Deliver(progress, /*local=*/false, 2);
  EXPECT_FALSE(progress.NextReduction());
  EXPECT_EQ(progress.ReleaseOutcome().contributing, Partitions({1}));
}

TEST(AggregationProgressTest, ErrorOfTheOperatorEndsIt) {
  AggregationProgress progress;
  for (int i = 0; i < 3; ++i) progress.Expect(/*local=*/false);
  Deliver(progress, /*local=*/false, 1);
  Deliver(progress, /*local=*/false, 2);
  ASSERT_TRUE(progress.NextReduction());
  progress.Reduced(Internal("asked to fail"));
  ASSERT_TRUE(progress.done());
  const auto outcome = progress.ReleaseOutcome();
  EXPECT_EQ(outcome.reduce_error, Internal("asked to fail"));
  EXPECT_FALSE(outcome.result);
  EXPECT_TRUE(outcome.contributing.empty());
}

}  // namespace
}  // namespace neptune
