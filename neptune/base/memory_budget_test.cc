#include "neptune/base/memory_budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace neptune {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class MemoryBudgetTest : public testing::Test {
 protected:
  std::shared_ptr<MemoryShare> MakeShare() { return MemoryShare::Of(budget_); }
  // Charges an owner of its own; empty if refused.
  MemoryCharge Take(size_t size, MemoryRank rank = MemoryRank::kOrdinary) {
    MemoryCharge charge;
    MakeShare()->TryCharge(MemoryUse::kAnswers, size, rank, &charge);
    return charge;
  }

  const std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(512 * kMiB);
};

TEST_F(MemoryBudgetTest, ChargeIsCountedByUseAndGivenBack) {
  const auto share = MakeShare();
  {
    MemoryCharge charge;
    ASSERT_TRUE(share->TryCharge(MemoryUse::kRequests, 1000, MemoryRank::kOrdinary, &charge));
    EXPECT_EQ(budget_->used(), 1000u);
    EXPECT_EQ(budget_->used(MemoryUse::kRequests), 1000u);
    EXPECT_EQ(budget_->used(MemoryUse::kAnswers), 0u);
    EXPECT_EQ(share->held(), 1000u);
    charge.ShrinkTo(400);
    EXPECT_EQ(share->held(), 400u);
    charge.ShrinkTo(500);
    EXPECT_EQ(charge.size(), 400u);
  }
  EXPECT_EQ(budget_->used(), 0u);
  EXPECT_EQ(share->held(), 0u);
}

TEST_F(MemoryBudgetTest, ChargeMovesWithoutBeingCountedTwice) {
  MemoryCharge first = Take(1000);
  MemoryCharge second = std::move(first);
  EXPECT_EQ(first.size(), 0u);  // NOLINT(bugprone-use-after-move): a moved charge is empty
  EXPECT_EQ(second.size(), 1000u);
  second = Take(10);
  EXPECT_EQ(budget_->used(), 10u);
}

TEST_F(MemoryBudgetTest, ChargeOutlivesItsShareAndTheOwnersBudget) {
  MemoryCharge charge;
  {
    const auto share = MemoryShare::Of(std::make_shared<MemoryBudget>(kMiB));
    ASSERT_TRUE(share->TryCharge(MemoryUse::kHttp, 10, MemoryRank::kSmall, &charge));
  }
  EXPECT_EQ(charge.size(), 10u);
}

TEST_F(MemoryBudgetTest, OwnerGetsAtMostAQuarterOfTheFreeBytes) {
  const size_t ordinary = budget_->size() - budget_->reserve();
  EXPECT_EQ(Take(ordinary / 4 + 1).size(), 0u);
  const auto share = MakeShare();
  MemoryCharge charge;
  ASSERT_TRUE(share->TryCharge(MemoryUse::kAnswers, ordinary / 4, MemoryRank::kOrdinary, &charge));
  EXPECT_FALSE(share->TryCharge(MemoryUse::kRequests, 1, MemoryRank::kOrdinary, &charge))
      << "all of an owner's charges count";
  EXPECT_GT(Take(kMiB).size(), 0u) << "the others have room";
}

// Owners that each take all they can: 60 MiB fit five times into 512 MiB, and what is left stays
// free for smaller charges.
TEST_F(MemoryBudgetTest, GreedyOwnersLeaveRoomForOthers) {
  std::vector<MemoryCharge> charges;
  for (int i = 0; i < 64; ++i) {
    if (MemoryCharge charge = Take(60 * kMiB); charge.size() > 0) {
      charges.push_back(std::move(charge));
    }
  }
  EXPECT_EQ(charges.size(), 4u);
  EXPECT_GT(Take(kMiB).size(), 0u);
}

TEST_F(MemoryBudgetTest, RanksEndAtTheirLevels) {
  std::vector<MemoryCharge> charges;
  const auto fill = [&](MemoryRank rank) {
    for (size_t size = 64 * kMiB; size >= 1024;) {
      if (MemoryCharge charge = Take(size, rank); charge.size() > 0) {
        charges.push_back(std::move(charge));
      } else {
        size /= 2;
      }
    }
  };
  fill(MemoryRank::kOrdinary);
  EXPECT_LE(budget_->used(), budget_->size() - budget_->reserve());
  EXPECT_GT(budget_->used(), budget_->size() - budget_->reserve() - 2048);
  EXPECT_TRUE(budget_->under_pressure());
  fill(MemoryRank::kSmall);
  EXPECT_LE(budget_->used(), budget_->size() - budget_->reserve() / 2);
  EXPECT_GT(budget_->used(), budget_->size() - budget_->reserve() / 2 - 2048);
  fill(MemoryRank::kControl);
  EXPECT_LE(budget_->used(), budget_->size());
  EXPECT_EQ(Take(2048, MemoryRank::kControl).size(), 0u);
}

TEST_F(MemoryBudgetTest, LargestChargeIsTheLargestThatFits) {
  const MemoryCharge some = Take(100 * kMiB);
  for (const MemoryRank rank : {MemoryRank::kOrdinary, MemoryRank::kSmall, MemoryRank::kControl}) {
    const size_t largest = budget_->LargestCharge(rank);
    EXPECT_EQ(Take(largest + 1, rank).size(), 0u);
    EXPECT_EQ(Take(largest, rank).size(), largest);
  }
}

TEST_F(MemoryBudgetTest, SteppedChargeFollowsASizeInSteps) {
  SteppedCharge charge(MakeShare(), MemoryUse::kAnswers);
  EXPECT_TRUE(charge.Cover(SteppedCharge::kFreeSize, MemoryRank::kSmall));
  EXPECT_EQ(budget_->used(), 0u) << "a little is free";
  EXPECT_TRUE(charge.Cover(SteppedCharge::kFreeSize + 1, MemoryRank::kSmall));
  EXPECT_EQ(budget_->used(), SteppedCharge::kStep);
  EXPECT_TRUE(charge.Cover(SteppedCharge::kStep, MemoryRank::kSmall));
  EXPECT_EQ(budget_->used(), SteppedCharge::kStep);
  EXPECT_TRUE(charge.Cover(10 * kMiB, MemoryRank::kOrdinary));
  EXPECT_EQ(budget_->used(), 10 * kMiB);
  EXPECT_FALSE(charge.Cover(500 * kMiB, MemoryRank::kOrdinary));
  EXPECT_EQ(budget_->used(), 10 * kMiB) << "a refusal changes nothing";
  charge.Settle(kMiB);
  EXPECT_LE(budget_->used(), kMiB + SteppedCharge::kStep);
  charge.Settle(0);
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(MemoryBudgetTest, WithoutABudgetEverythingIsCovered) {
  SteppedCharge charge(nullptr, MemoryUse::kAnswers);
  EXPECT_TRUE(charge.Cover(size_t{1} << 40, MemoryRank::kOrdinary));
  charge.Settle(0);
}

// Threads that charge, move and release at random sizes never exceed the budget, and leave nothing.
TEST_F(MemoryBudgetTest, ThreadsTogetherNeverExceedTheBudget) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20'000;
  const auto shared = MakeShare();
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      const auto own = MakeShare();
      std::vector<MemoryCharge> held(4);
      uint64_t state = 88172645463325252u + static_cast<uint64_t>(number);
      for (int i = 0; i < kRounds; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        MemoryCharge charge;
        const auto& share = state % 2 == 0 ? own : shared;
        const auto use = static_cast<MemoryUse>(state / 2 % kMemoryUseCount);
        const auto rank = static_cast<MemoryRank>(state / 16 % 3);
        if (share->TryCharge(use, state / 64 % (64 * kMiB), rank, &charge)) {
          held[state % held.size()] = std::move(charge);
        }
        if (budget_->used() > budget_->size()) exceeded = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(budget_->used(), 0u);
  EXPECT_EQ(shared->held(), 0u);
  for (size_t use = 0; use < kMemoryUseCount; ++use) {
    EXPECT_EQ(budget_->used(static_cast<MemoryUse>(use)), 0u);
  }
}

}  // namespace
}  // namespace neptune
