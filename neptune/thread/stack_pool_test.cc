#include "neptune/thread/stack_pool.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace neptune {
namespace {

constexpr size_t kStackSize = 4096;

// Takes stacks until one is not guarded, which is the last of `stacks`.
void TakeUntilUnguarded(StackPool* pool, std::vector<Stack>* stacks) {
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

TEST(StackPoolTest, GuardsAreBoundedAndGivenBackWithTheirPool) {
  for (int round = 0; round < 2; ++round) {
    StackPool pool(kStackSize);
    std::vector<Stack> stacks;
    TakeUntilUnguarded(&pool, &stacks);
    EXPECT_EQ(stacks.size(), static_cast<size_t>(kGuardedStackCountMax) + 1);
    GiveAllBack(&pool, stacks);
  }
}

TEST(StackPoolTest, AnOverwrittenCanaryIsSeen) {
  StackPool pool(kStackSize);
  std::vector<Stack> stacks;
  TakeUntilUnguarded(&pool, &stacks);
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
  const auto overflow = [] {
    StackPool pool(kStackSize);
    const Stack stack = *pool.Take();
    *const_cast<volatile char*>(stack.low - 1) = 1;
  };
  EXPECT_DEATH(overflow(), "");
}

TEST(StackPoolDeathTest, GivingBackAnOverflownStackEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto overflow = [] {
    StackPool pool(kStackSize);
    std::vector<Stack> stacks;
    TakeUntilUnguarded(&pool, &stacks);
    *stacks.back().low = 1;
    pool.GiveBack(stacks.back());
  };
  EXPECT_DEATH(overflow(), "overflowed its stack of 4096 bytes");
}

}  // namespace
}  // namespace neptune
