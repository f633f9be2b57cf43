#include "frontend/policy/result_folding.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace search::frontend {
namespace {

// Candidates of the sites given by letters, with equal scores and no near-duplicates.
std::vector<FoldCandidate> Of(std::string_view sites) {
  std::vector<FoldCandidate> candidates;
  for (const char site : sites) {
    candidates.push_back(
        {.site = std::string(1, site), .title = std::to_string(candidates.size()), .score = 1});
  }
  return candidates;
}

// The shown candidates, each followed by those behind it: "0 1(2,3) 4~5".
std::string Text(const FoldedPage& page) {
  std::string text;
  for (const FoldedResult& result : page.results) {
    text += (text.empty() ? "" : " ") + std::to_string(result.index);
    for (const size_t index : result.similar) text += "~" + std::to_string(index);
    for (const size_t index : result.more_of_site) text += "+" + std::to_string(index);
  }
  return text;
}

FoldedPage Fold(const std::vector<FoldCandidate>& candidates, size_t count = 4,
                std::optional<double> next_score = std::nullopt) {
  return FoldPage(candidates, {.count = count, .next_score = next_score});
}

TEST(ResultFoldingTest, DifferentSitesAreShownAsRanked) {
  const FoldedPage page = Fold(Of("abcabc"));
  EXPECT_EQ(Text(page), "0 1 2 3");
  EXPECT_EQ(page.covered_count, 4u);
  EXPECT_FALSE(page.wants_more);
}

TEST(ResultFoldingTest, TheThirdOfASiteMakesPlaceForOthers) {
  const FoldedPage page = Fold(Of("aaaabcd"));
  EXPECT_EQ(Text(page), "0 1+2+3 4 5");
  EXPECT_EQ(page.covered_count, 6u);
}

TEST(ResultFoldingTest, MoreIsWantedUntilThePageIsFull) {
  EXPECT_TRUE(Fold(Of("aaab"), 4, 1).wants_more);
  const FoldedPage last = Fold(Of("aaab"), 4);
  EXPECT_FALSE(last.wants_more);
  EXPECT_EQ(Text(last), "0 1 2 3");
  EXPECT_EQ(last.covered_count, 4u);
}

TEST(ResultFoldingTest, WhatHasNoReplacementIsShown) {
  const FoldedPage page = Fold(Of("aaaaaaaa"));
  EXPECT_EQ(Text(page), "0 1 2 3");
  EXPECT_EQ(page.covered_count, 4u);
  EXPECT_FALSE(Fold(Of("aaa"), 4).wants_more);
}

TEST(ResultFoldingTest, AWeakResultDoesNotTakeAPlace) {
  std::vector<FoldCandidate> candidates = Of("aaabcd");
  for (size_t i = 3; i < candidates.size(); ++i) candidates[i].score = 0.7;
  EXPECT_EQ(Text(Fold(candidates)), "0 1 2 3");
  EXPECT_EQ(Fold(candidates).covered_count, 4u);
  // Nor are more candidates asked for it.
  EXPECT_FALSE(Fold(Of("aaa"), 3, 0.7).wants_more);
  EXPECT_TRUE(Fold(Of("aaa"), 3, 0.95).wants_more);
  EXPECT_EQ(Fold(Of("aaa"), 3, 0.95).wanted_score_min, kFoldScoreShare);
}

TEST(ResultFoldingTest, NearDuplicatesOfASiteAreBehindTheBest) {
  std::vector<FoldCandidate> candidates = Of("aaabb");
  candidates[0].signature = candidates[1].signature = 0xFF00FF;
  candidates[2].signature = 0xFF00FE;
  candidates[3].signature = 0xFF00FF;  // of another site
  EXPECT_EQ(Text(Fold(candidates)), "0~1~2 3 4");
}

TEST(ResultFoldingTest, PlacesThatDuplicatesLeaveAreFilled) {
  std::vector<FoldCandidate> candidates = Of("aaaa");
  candidates[1].signature = candidates[2].signature = candidates[3].signature = 7;
  candidates[0].score = 10;
  // The next result is too weak to take the place of a folded one, but none is left.
  const FoldedPage page = Fold(candidates, 4, 0.1);
  EXPECT_TRUE(page.wants_more);
  EXPECT_EQ(page.wanted_score_min, 0);
  EXPECT_FALSE(Fold(candidates, 4).wants_more);
}

TEST(ResultFoldingTest, PagesOfOneTitleMayDifferMore) {
  FoldCandidate a{.site = "a", .title = "x", .signature = 0xFFFF};
  FoldCandidate b{.site = "a", .title = "y", .signature = 0xFF00};
  EXPECT_FALSE(IsNearDuplicate(a, b));
  b.title = "x";
  EXPECT_TRUE(IsNearDuplicate(a, b));
  b.signature = 0;
  EXPECT_FALSE(IsNearDuplicate(a, b));
}

TEST(ResultFoldingTest, WithoutSitesOnlyDuplicatesAreFolded) {
  std::vector<FoldCandidate> candidates = Of("aaaa");
  candidates[1].signature = candidates[3].signature = 5;
  EXPECT_EQ(Text(FoldPage(candidates, {.count = 4, .folds_sites = false})), "0 1~3 2");
}

TEST(ResultFoldingTest, UnknownDocumentsAndSitesAreShown) {
  std::vector<FoldCandidate> candidates = Of("aaaa");
  for (FoldCandidate& candidate : candidates) candidate.is_known = false;
  EXPECT_EQ(Text(Fold(candidates)), "0 1 2 3");
  candidates = Of("aaaa");
  for (FoldCandidate& candidate : candidates) candidate.site.clear();
  EXPECT_EQ(Text(Fold(candidates)), "0 1 2 3");
}

TEST(ResultFoldingTest, NothingIsLostAndOrderIsKept) {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    std::vector<FoldCandidate> candidates;
    double score = 10;
    const size_t size = random() % 30;
    for (size_t i = 0; i < size; ++i) {
      score *= 0.8 + 0.2 * (random() % 100) / 100.0;
      candidates.push_back({.site = std::string(1, static_cast<char>('a' + random() % 3)),
                            .title = std::string(1, static_cast<char>('a' + random() % 5)),
                            .signature = random() % 8 == 0 ? 0 : random() % 4 + 1,
                            .score = score,
                            .is_known = random() % 10 != 0});
    }
    const size_t count = 1 + random() % 12;
    const FoldedPage page = FoldPage(candidates, {.count = count});
    ASSERT_LE(page.results.size(), count) << "seed " << seed;
    std::set<size_t> seen;
    size_t last = 0;
    for (const FoldedResult& result : page.results) {
      ASSERT_TRUE(seen.empty() || result.index > last) << "seed " << seed;
      last = result.index;
      ASSERT_TRUE(seen.insert(result.index).second) << "seed " << seed;
      for (const size_t index : result.similar) ASSERT_TRUE(seen.insert(index).second);
      for (const size_t index : result.more_of_site) ASSERT_TRUE(seen.insert(index).second);
    }
    ASSERT_EQ(seen.size(), page.covered_count) << "seed " << seed;
    ASSERT_TRUE(seen.empty() || *seen.rbegin() + 1 == page.covered_count) << "seed " << seed;
    const bool is_full = page.results.size() == count;
    ASSERT_TRUE(is_full || page.covered_count == size) << "seed " << seed;
  }
}

}  // namespace
}  // namespace search::frontend
