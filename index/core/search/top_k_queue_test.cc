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

TEST(TopKQueueTest, OrderOfOfferDoesNotMatter) {
  std::mt19937 rng(2);
  for (const uint32_t range : {3U, 50U, 0x7fffffffU}) {
    std::vector<TopKQueue::Entry> all;
    std::vector<ScoreUnits> units(500);
    for (uint32_t ordinal = 0; ordinal < 500; ++ordinal) {
      units[ordinal] = static_cast<ScoreUnits>(rng()) % range;
      all.push_back({ToScore(units[ordinal]), ordinal});
    }
    TopKQueue queue(20, /*prune=*/true);
    std::shuffle(all.begin(), all.end(), rng);
    for (const auto& entry : all) {
      if (queue.CanEnter(units[entry.ordinal])) queue.Offer(entry.ordinal, units[entry.ordinal]);
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.score != b.score ? a.score > b.score : a.ordinal < b.ordinal;
    });
    const auto best = queue.Take();
    ASSERT_EQ(best.size(), 20U);
    for (size_t i = 0; i < best.size(); ++i) ASSERT_EQ(best[i].ordinal, all[i].ordinal);
  }
}

TEST(TopKQueueTest, TiesGoByDocIdWhereOrdinalsDoNotFollowIt) {
  const std::vector<uint64_t> doc_ids = {90, 20, 50, 70};
  TopKQueue queue(2, /*prune=*/true, doc_ids);
  for (uint32_t ordinal = 0; ordinal < 4; ++ordinal) queue.Offer(ordinal, 100);
  const auto best = queue.Take();
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].ordinal, 1U);
  EXPECT_EQ(best[1].ordinal, 2U);
}

TEST(TopKQueueTest, RaisedBarLeavesOutWhatIsBelow) {
  TopKQueue queue(2, /*prune=*/true);
  queue.RaiseBar(100);
  EXPECT_FALSE(queue.CanEnter(99));
  EXPECT_TRUE(queue.CanEnter(100));
  queue.Offer(5, 100);
  queue.Offer(4, 100);
  EXPECT_EQ(queue.required(), 100U);
  TopKQueue exhaustive(2, /*prune=*/false);
  exhaustive.RaiseBar(100);
  EXPECT_TRUE(exhaustive.CanEnter(0));
}

TEST(TopKQueueTest, RequiresTheWorstForItsTies) {
  TopKQueue queue(2, /*prune=*/true);
  queue.Offer(0, 100);
  EXPECT_EQ(queue.required(), 0U);
  queue.Offer(1, 50);
  EXPECT_EQ(queue.required(), 50U);
  queue.Offer(2, 70);
  EXPECT_EQ(queue.required(), 70U);
}

TEST(TopKQueueTest, LargeSumsCompareAsReported) {
  // Above 2^24 units a float holds only every second number.
  const ScoreUnits large = 1U << 24;
  ASSERT_EQ(ToScore(large), ToScore(large + 1));
  TopKQueue queue(1, /*prune=*/true);
  queue.Offer(0, large);
  EXPECT_TRUE(queue.CanEnter(large));
  queue.Offer(1, large + 1);
  EXPECT_EQ(queue.Take()[0].ordinal, 0U);
}

TEST(TopKQueueTest, NothingEntersAQueueOfNone) {
  TopKQueue queue(0, /*prune=*/true);
  EXPECT_FALSE(queue.CanEnter(1'000'000));
}

}  // namespace
}  // namespace search::index
