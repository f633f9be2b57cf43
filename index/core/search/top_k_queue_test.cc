#include "index/core/search/top_k_queue.h"

#include <gtest/gtest.h>

#include <random>

namespace search::index {
namespace {

TEST(TopKQueueTest, EqualsSortingEverything) {
  std::mt19937 rng(1);
  for (const uint32_t range : {3U, 1000U, 0x7fffffffU}) {
    for (const size_t k : {1, 2, 10, 100}) {
      TopKQueue queue(k, /*prune=*/true);
      std::vector<TopKQueue::Entry> all;
      for (uint32_t ordinal = 0; ordinal < 500; ++ordinal) {
        const ScoreUnits units = static_cast<ScoreUnits>(rng()) % range;
        all.push_back({ToScore(units), ordinal});
        if (queue.CanEnter(units)) queue.Offer(ordinal, units);
      }
      std::stable_sort(all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.score > b.score; });
      const auto best = queue.Take();
      ASSERT_EQ(best.size(), k);
      for (size_t i = 0; i < k; ++i) {
        ASSERT_EQ(best[i].ordinal, all[i].ordinal);
        ASSERT_EQ(best[i].score, all[i].score);
      }
    }
  }
}

TEST(TopKQueueTest, RequiresMoreThanTheWorst) {
  TopKQueue queue(2, /*prune=*/true);
  queue.Offer(0, 100);
  EXPECT_EQ(queue.required(), 0U);
  queue.Offer(1, 50);
  EXPECT_EQ(queue.required(), 51U);
  queue.Offer(2, 70);
  EXPECT_EQ(queue.required(), 71U);
}

TEST(TopKQueueTest, LargeSumsCompareAsReported) {
  // Above 2^24 units a float holds only every second number.
  const ScoreUnits large = 1U << 24;
  ASSERT_EQ(ToScore(large), ToScore(large + 1));
  TopKQueue queue(1, /*prune=*/true);
  queue.Offer(0, large);
  EXPECT_FALSE(queue.CanEnter(large + 1));
  queue.Offer(1, large + 1);
  EXPECT_EQ(queue.Take()[0].ordinal, 0U);
}

TEST(TopKQueueTest, NothingEntersAQueueOfNone) {
  TopKQueue queue(0, /*prune=*/true);
  EXPECT_FALSE(queue.CanEnter(1'000'000));
}

}  // namespace
}  // namespace search::index
