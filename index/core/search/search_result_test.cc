#include "index/core/search/search_result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace search::index {
namespace {

// Few distinct scores, so that ties are common.
SearchResult RandomPart(std::mt19937_64& random, uint64_t part, size_t k) {
  SearchResult result;
  const size_t count = random() % 25;
  for (size_t i = 0; i < count; ++i) {
    result.hits.push_back(
        {3 * i + part, static_cast<float>(random() % 5), static_cast<float>(random() % 4)});
  }
  result.second_phase_count = random() % 3 == 0 ? 0 : random() % 20;
  OrderHits(result.second_phase_count, &result.hits);
  const size_t kept = std::max(k, result.second_phase_count);
  result.hits.resize(std::min(count, kept));
  result.total = random() % 100;
  result.total_is_exact = random() % 2 == 0;
  result.complete = random() % 2 == 0;
  result.second_phase_lacks_positions = random() % 2 == 0;
  result.phrase_is_left_out = random() % 2 == 0;
  return result;
}

TEST(MergeResultsTest, IsCommutativeAndAssociative) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 2000; ++round) {
    const size_t k = 1 + random() % 15;
    const SearchResult a = RandomPart(random, 0, k);
    const SearchResult b = RandomPart(random, 1, k);
    const SearchResult c = RandomPart(random, 2, k);
    SCOPED_TRACE(round);
    EXPECT_EQ(MergeResults(a, b, k), MergeResults(b, a, k));
    EXPECT_EQ(MergeResults(MergeResults(a, b, k), c, k), MergeResults(a, MergeResults(b, c, k), k));
  }
}

TEST(MergeResultsTest, OnlyTheBestOfAllKeepTheirGain) {
  const SearchResult a = {.hits = {{2, 5, 2}, {1, 6, 0}}, .second_phase_count = 2};
  const SearchResult b = {.hits = {{3, 4, 9}, {4, 3, 9}}, .second_phase_count = 2};
  const SearchResult merged = MergeResults(a, b, 3);
  EXPECT_EQ(merged.second_phase_count, 2U);
  EXPECT_EQ(merged.hits, (std::vector<Hit>{{2, 5, 2}, {1, 6, 0}, {3, 4, 0}}));
}

TEST(MergeResultsTest, KeepsWhatALaterMergeNeeds) {
  const SearchResult a = {.hits = {{2, 5, 2}, {1, 6, 0}}, .second_phase_count = 2};
  const SearchResult empty = {.second_phase_count = 2};
  EXPECT_EQ(MergeResults(a, empty, 1).hits, a.hits);
}

TEST(MergeResultsTest, OnePartWithoutSecondPhaseTakesItFromAll) {
  const SearchResult a = {.hits = {{2, 5, 2}, {1, 6, 0}}, .second_phase_count = 2};
  const SearchResult stopped = {.hits = {{3, 7}}, .complete = false};
  const SearchResult merged = MergeResults(a, stopped, 10);
  EXPECT_EQ(merged.second_phase_count, 0U);
  EXPECT_EQ(merged.hits, (std::vector<Hit>{{3, 7}, {1, 6}, {2, 5}}));
}

TEST(OrderHitsTest, RatedStayBeforeOthersAndTiesGoByDocId) {
  std::vector<Hit> hits = {{9, 2, 0}, {4, 2, 0}, {7, 3, 0}, {8, 2.5F, 0.5F}};
  OrderHits(3, &hits);
  EXPECT_EQ(hits, (std::vector<Hit>{{7, 3, 0}, {8, 2.5F, 0.5F}, {4, 2, 0}, {9, 2, 0}}));
}

}  // namespace
}  // namespace search::index
