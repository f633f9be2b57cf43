#include "neptune/scheduling/class_threads.h"

#include <gtest/gtest.h>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

constexpr ClassNumber kGold = 0;
constexpr ClassNumber kSilver = 1;
constexpr ClassNumber kBronze = 2;

TEST(ClassThreadsTest, AllClassesShareAllThreadsWithoutReservations) {
  ClassThreads threads({.all = 2}, 3);
  threads.Take(kGold);
  EXPECT_TRUE(threads.HasFree(kBronze));
  threads.Take(kGold);
  for (const ClassNumber number : {kGold, kSilver, kBronze}) EXPECT_FALSE(threads.HasFree(number));
  threads.Free(kGold);
  EXPECT_TRUE(threads.HasFree(kSilver));
}

TEST(ClassThreadsTest, ReservedThreadsAreNotShared) {
  ClassThreads threads({.all = 3, .own = {1}}, 3);
  threads.Take(kSilver);
  threads.Take(kBronze);
  EXPECT_FALSE(threads.HasFree(kSilver));
  EXPECT_TRUE(threads.HasFree(kGold));
  threads.Take(kGold);
  threads.Free(kBronze);
  EXPECT_FALSE(threads.HasFree(kGold)) << "it does not get the shared threads either";
  EXPECT_TRUE(threads.HasFree(kSilver));
}

TEST(ClassThreadsTest, WorkWithoutAClassCountsInTheTotal) {
  ClassThreads threads({.all = 1}, 1);
  threads.Take();
  EXPECT_FALSE(threads.HasFree(kGold));
  threads.Free();
  EXPECT_TRUE(threads.HasFree(kGold));
}

TEST(ClassThreadsTest, SharesMayChangeWhileRequestsRun) {
  ClassThreads threads({.all = 4}, 2);
  for (int i = 0; i < 4; ++i) threads.Take(kGold);
  threads.SetShares({.all = 4, .own = {2}});
  EXPECT_FALSE(threads.HasFree(kSilver)) << "gold's four requests continue";
  threads.Free(kGold);
  EXPECT_TRUE(threads.HasFree(kSilver));
  EXPECT_FALSE(threads.HasFree(kGold));
  threads.SetShares({.all = 4});
  EXPECT_TRUE(threads.HasFree(kGold));
}

// Whatever is taken and freed, the counts match the running work, and a class without a reservation
// never blocks a class that has one from its reserved threads.
TEST(ClassThreadsTest, AtRandom) {
  constexpr uint64_t kSeed = 20261122;
  SCOPED_TRACE(kSeed);
  RandomSource random(kSeed);
  const ThreadShares shares{.all = 6, .own = {2, std::nullopt, 1}};
  ClassThreads threads(shares, 4);
  std::vector<size_t> busy(4, 0);
  for (int step = 0; step < 10'000; ++step) {
    const auto number = static_cast<ClassNumber>(random.Below(4));
    if (random.Below(2) == 0) {
      const bool may = number == 0   ? busy[0] < 2
                       : number == 2 ? busy[2] < 1
                                     : busy[1] + busy[3] < 3;
      ASSERT_EQ(threads.HasFree(number), may);
      if (!may) continue;
      threads.Take(number);
      ++busy[number];
    } else if (busy[number] > 0) {
      threads.Free(number);
      --busy[number];
    }
    ASSERT_EQ(threads.busy(), busy[0] + busy[1] + busy[2] + busy[3]);
    ASSERT_EQ(threads.busy_of(number), busy[number]);
  }
}

TEST(ClassThreadsTest, InvalidSharesAreRefused) {
  const auto fault = [](const ThreadShares& shares) { return !CheckThreadShares(shares, 2).ok(); };
  EXPECT_FALSE(fault({.all = 1}));
  EXPECT_FALSE(fault({.all = 2, .own = {1, 1}}));
  EXPECT_TRUE(fault({.all = 0}));
  EXPECT_FALSE(fault({.all = kConcurrencyMax}));
  EXPECT_TRUE(fault({.all = kConcurrencyMax + 1}));
  EXPECT_TRUE(fault({.all = 2, .own = {0}}));
  EXPECT_TRUE(fault({.all = 2, .own = {2}})) << "no thread for the other class";
  EXPECT_TRUE(fault({.all = 2, .own = {2, 1}}));
  EXPECT_TRUE(fault({.all = 9, .own = {1, 1, 1}}));
}

}  // namespace
}  // namespace neptune
