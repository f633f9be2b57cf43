#include "neptune/thread/stack_pool.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "gtest/gtest.h"

namespace neptune {
namespace {

constexpr size_t kStackSize = 4096;
// Behaves like a kernel without guard advice.
constexpr StackPoolOptions kNoAdvice{.guard_advice = false};

// Acquires stacks until one is not guarded, which is the last of `stacks`.
void AcquireUntilUnguarded(StackPool* pool, std::vector<Stack>* stacks) {
  do {
    auto stack = pool->Take();
    ASSERT_TRUE(stack.ok()) << stack.status();
    stacks->push_back(*stack);
  } while (stacks->back().guarded);
}

void GiveAllBack(StackPool* pool, const std::vector<Stack>& stacks) {
  for (const Stack& stack : stacks) pool->GiveBack(stack);
}

TEST(StackPoolTest, SizesAreWholePagesAndAllOfThemIsUsable) {
  StackPool pool(kStackSize + 1);
  auto stack = pool.Take();
  ASSERT_TRUE(stack.ok());
  EXPECT_GE(stack->size, kStackSize + 1);
  EXPECT_EQ(stack->size % kStackSize, 0u);
  std::memset(stack->low, 0xab, stack->size);
  pool.GiveBack(*stack);
}

TEST(StackPoolTest, AStackGivenBackIsUsedAgain) {
  StackPool pool(kStackSize);
  auto first = pool.Take();
  ASSERT_TRUE(first.ok());
  pool.GiveBack(*first);
  auto second = pool.Take();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->low, first->low);
  pool.GiveBack(*second);
}

TEST(StackPoolTest, GuardedMappingsAreBoundedAndGivenBackWithTheirPool) {
  for (int round = 0; round < 2; ++round) {
    StackPool pool(kStackSize, kNoAdvice);
    std::vector<Stack> stacks;
    AcquireUntilUnguarded(&pool, &stacks);
    EXPECT_EQ(stacks.size(), static_cast<size_t>(kGuardedStackCountMax) + 1);
    GiveAllBack(&pool, stacks);
  }
}

TEST(StackPoolTest, AnOverwrittenCanaryIsSeen) {
  StackPool pool(kStackSize, kNoAdvice);
  std::vector<Stack> stacks;
  AcquireUntilUnguarded(&pool, &stacks);
  const Stack& last = stacks.back();
  EXPECT_TRUE(StackPool::CanaryIntact(last));
  const char kept = *last.low;
  *last.low = static_cast<char>(kept + 1);
  EXPECT_FALSE(StackPool::CanaryIntact(last));
  *last.low = kept;
  GiveAllBack(&pool, stacks);
}

TEST(StackPoolDeathTest, WritingBelowAGuardedStackEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto overflow = [](const StackPoolOptions& options) {
    StackPool pool(kStackSize, options);
    const Stack stack = *pool.Take();
    *const_cast<volatile char*>(stack.low - 1) = 1;
  };
  EXPECT_DEATH(overflow({}), "");
  EXPECT_DEATH(overflow(kNoAdvice), "");
}

TEST(StackPoolDeathTest, GivingBackAnOverflownStackEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto overflow = [] {
    StackPool pool(kStackSize, kNoAdvice);
    std::vector<Stack> stacks;
    AcquireUntilUnguarded(&pool, &stacks);
    *stacks.back().low = 1;
    pool.GiveBack(stacks.back());
  };
  EXPECT_DEATH(overflow(), "overflowed its stack of 4096 bytes");
}

TEST(StackPoolTest, WhereTheKernelHasGuardAdviceAllAreGuarded) {
  StackPool pool(kStackSize);
  const Stack first = *pool.Take();
  pool.GiveBack(first);
  if (first.slab < 0) GTEST_SKIP() << "SKIPPED: a kernel without guard advice";
  std::vector<Stack> stacks;
  for (int i = 0; i < kGuardedStackCountMax + kSlabStackCount; ++i) {
    stacks.push_back(*pool.Take());
    ASSERT_TRUE(stacks.back().guarded);
    std::memset(stacks.back().low, 0xcd, stacks.back().size);
  }
  GiveAllBack(&pool, stacks);
}

TEST(StackPoolTest, NeighboursOfASlabKeepTheirBytes) {
  for (const StackPoolOptions& options : {StackPoolOptions(), kNoAdvice}) {
    StackPool pool(kStackSize, options);
    std::vector<Stack> stacks;
    for (int i = 0; i < kGuardedStackCountMax + 3 * kSlabStackCount; ++i) {
      stacks.push_back(*pool.Take());
      // Everything except the canary.
      std::memset(stacks.back().low + 8, i, stacks.back().size - 8);
    }
    for (size_t i = 0; i < stacks.size(); ++i) {
      EXPECT_EQ(stacks[i].low[8], static_cast<char>(i));
      EXPECT_EQ(stacks[i].top()[-1], static_cast<char>(i));
    }
    GiveAllBack(&pool, stacks);
  }
}

// Resident memory of the process.
[[maybe_unused]] size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t mapped = 0;
  size_t resident = 0;
  file >> mapped >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Stacks like a node's: 256 KiB each, of which a waiting request has used little.
[[maybe_unused]] void ExpectSmallWhileWaiting(const StackPoolOptions& options) {
  constexpr size_t kCount = 100'000;
  constexpr size_t kUsed = 3000;
  StackPool pool(256 * 1024, options);
  std::vector<Stack> stacks;
  stacks.reserve(kCount);
  const size_t before = ResidentBytes();
  for (size_t i = 0; i < kCount; ++i) {
    auto stack = pool.Take();
    ASSERT_TRUE(stack.ok()) << stack.status();
    std::memset(stack->top() - kUsed, 1, kUsed);
    stacks.push_back(*stack);
  }
  const double each = static_cast<double>(ResidentBytes() - before) / kCount;
  testing::Test::RecordProperty("resident_bytes_each", static_cast<int>(each));
  EXPECT_LE(each, 5000) << "a page and the pool's bookkeeping";
  GiveAllBack(&pool, stacks);
  const double left = static_cast<double>(ResidentBytes() - before) / kCount;
  EXPECT_LE(left, 500) << "idle stacks give their memory back";
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // which keep shadow memory for each byte
TEST(StackPoolTest, AHundredThousandStacksCostAPageEach) { ExpectSmallWhileWaiting({}); }

TEST(StackPoolTest, AHundredThousandStacksCostAPageEachWithoutGuardAdvice) {
  ExpectSmallWhileWaiting(kNoAdvice);
}
#endif

}  // namespace
}  // namespace neptune
