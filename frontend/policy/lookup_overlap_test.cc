#include "frontend/policy/lookup_overlap.h"

#include <gtest/gtest.h>

#include <random>

namespace search::frontend {
namespace {

constexpr size_t kWords = 3;

void RecordMisses(LookupOverlap& overlap, int count, size_t word_count = kWords) {
  for (int i = 0; i < count; ++i) overlap.Record(word_count, /*is_hit=*/false);
}

// How many searches begin before the first one has ended.
int BegunAtOnce(LookupOverlap& overlap) {
  int begun = 0;
  while (begun < 1000 && overlap.Begin(kWords, /*is_busy=*/false)) ++begun;
  return begun;
}

TEST(LookupOverlapTest, SearchBeginsOnceMissesAreTheRule) {
  LookupOverlap overlap({});
  EXPECT_FALSE(overlap.Begin(kWords, false)) << "nothing is known yet";
  RecordMisses(overlap, 30);
  EXPECT_TRUE(overlap.Begin(kWords, false));
}

TEST(LookupOverlapTest, SearchWaitsWhereHitsAreFrequent) {
  LookupOverlap overlap({});
  for (int i = 0; i < 100; ++i) overlap.Record(kWords, i % 5 == 0);
  EXPECT_FALSE(overlap.Begin(kWords, false));
}

TEST(LookupOverlapTest, QuestionsOfOtherLengthsAreJudgedByThemselves) {
  LookupOverlap overlap({});
  RecordMisses(overlap, 100, 6);
  EXPECT_TRUE(overlap.Begin(6, false));
  EXPECT_TRUE(overlap.Begin(60, false)) << "long ones are alike";
  EXPECT_FALSE(overlap.Begin(1, false));
}

TEST(LookupOverlapTest, SearchWaitsWhileOthersAreNotAdmitted) {
  LookupOverlap overlap({});
  RecordMisses(overlap, 100);
  EXPECT_FALSE(overlap.Begin(kWords, /*is_busy=*/true));
}

TEST(LookupOverlapTest, CacheThatFillsEndsIt) {
  LookupOverlap overlap({.waste_share_max = 1});
  RecordMisses(overlap, 10'000);
  ASSERT_TRUE(overlap.Begin(kWords, false));
  int hits = 0;
  while (overlap.Begin(kWords, false)) {
    overlap.End(false);
    overlap.Record(kWords, /*is_hit=*/true);
    ++hits;
  }
  EXPECT_LT(hits, 40);
}

TEST(LookupOverlapTest, NoShareOfWasteIsNoOverlap) {
  LookupOverlap overlap({.waste_share_max = 0});
  RecordMisses(overlap, 1000);
  EXPECT_FALSE(overlap.Begin(kWords, false));
}

TEST(LookupOverlapTest, ThoseUnderWayCountAsWastedUntilTheyHaveEnded) {
  LookupOverlap overlap({.waste_share_max = 1.0 / 16});
  RecordMisses(overlap, 64);
  EXPECT_EQ(BegunAtOnce(overlap), 5) << "one to begin with, and one for each sixteen misses";
  overlap.End(/*is_wasted=*/false);
  EXPECT_EQ(BegunAtOnce(overlap), 1);
  overlap.End(/*is_wasted=*/true);
  EXPECT_EQ(BegunAtOnce(overlap), 0);
}

TEST(LookupOverlapTest, BurstAfterAQuietTimeIsBounded) {
  LookupOverlap overlap({.waste_share_max = 0.05});
  RecordMisses(overlap, 100'000);
  EXPECT_EQ(BegunAtOnce(overlap), 16);
}

// Whatever the lookups bring, waste keeps to its share of the searches that are computed.
TEST(LookupOverlapTest, WasteKeepsToItsShare) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    LookupOverlap overlap({.miss_share_min = 0, .waste_share_max = 0.1});
    int computed = 0;
    int wasted = 0;
    for (int i = 0; i < 5000; ++i) {
      const bool is_hit = random() % 100 < seed * 5;
      const bool began = overlap.Begin(random() % 8, random() % 4 == 0);
      overlap.Record(random() % 8, is_hit);
      if (began) overlap.End(is_hit);
      computed += is_hit ? 0 : 1;
      wasted += began && is_hit ? 1 : 0;
      ASSERT_LE(wasted, 1 + 0.1 * computed) << "seed " << seed << ", question " << i;
    }
  }
}

}  // namespace
}  // namespace search::frontend
