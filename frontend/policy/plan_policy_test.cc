// Tests the plan's decisions without services: tier 2, merging, keys, what is cached.

#include "frontend/policy/plan_policy.h"

#include <gtest/gtest.h>

#include "frontend/search_plan/cached_form.h"

namespace search::frontend {
namespace {

using index::TierAnswer;
using neptune::StatusCode;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Hits of descending scores from `best_score`, numbered from `first_id`.
TierAnswer Hits(uint64_t first_id, int count, float best_score) {
  TierAnswer answer;
  for (int i = 0; i < count; ++i) {
    index::TierHit* const hit = answer.add_hits();
    hit->set_doc_id(first_id + static_cast<uint64_t>(i));
    hit->set_score(best_score - static_cast<float>(i));
  }
  answer.set_total(static_cast<uint64_t>(count));
  answer.set_total_is_exact(true);
  answer.set_evaluated_completely(true);
  return answer;
}

std::vector<uint64_t> Ids(const TierAnswer& answer) {
  std::vector<uint64_t> ids;
  for (const index::TierHit& hit : answer.hits()) ids.push_back(hit.doc_id());
  return ids;
}

TEST(ReachablePageTest, EndsAtTheLastReachableResult) {
  EXPECT_EQ(ReachablePage(20, 10)->count, 10u);
  EXPECT_EQ(ReachablePage(kReachableResultCountMax - 3, 10)->count, 3u);
  const auto beyond = ReachablePage(kReachableResultCountMax, 1);
  EXPECT_EQ(beyond.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(neptune::ToStd(beyond.status().message()).starts_with("parameter start: "));
}

TEST(MakeTierQueryTest, AsksForTheSecondPhaseOfTheOptions) {
  EXPECT_EQ(MakeTierQuery("x", {0, 10}, {}).second_phase_count(), 50u);
  EXPECT_EQ(MakeTierQuery("x", {0, 10}, {.second_phase_count = 0}).second_phase_count(), 0u);
}

TEST(DecideTier2Test, LooksAtFirstScores) {
  TierAnswer answer;
  answer.set_second_phase_count(1);
  index::TierHit* const hit = answer.add_hits();
  hit->set_score(1);
  hit->set_gain(5);
  EXPECT_EQ(DecideTier2(&answer, {0, 1}, {.tier1_good_hits_min = 1, .tier1_score_min = 2}),
            Tier2Need::kFewGoodHits);
}

TEST(MakeTierQueryTest, AsksForEnoughToDecide) {
  const SearchPlanOptions options{.tier1_good_hits_min = 25};
  EXPECT_EQ(MakeTierQuery("x", {0, 10}, options).hit_count_max(), 25u);
  EXPECT_EQ(MakeTierQuery("x", {30, 10}, options).hit_count_max(), 40u);
  EXPECT_EQ(MakeTierQuery("x", {999, 1}, options).hit_count_max(), 1000u);
}

TEST(DecideTier2Test, EnoughGoodHitsNeedNoTier2) {
  const TierAnswer tier1 = Hits(1, 10, 50);
  EXPECT_EQ(DecideTier2(&tier1, {0, 10}, {}), Tier2Need::kNone);
}

TEST(DecideTier2Test, FewHitsNeedTier2) {
  const TierAnswer tier1 = Hits(1, 9, 50);
  EXPECT_EQ(DecideTier2(&tier1, {0, 5}, {}), Tier2Need::kFewGoodHits);
}

TEST(DecideTier2Test, HitsBelowTheScoreAreNotGood) {
  const TierAnswer tier1 = Hits(1, 20, 20);  // scores 20 to 1
  EXPECT_EQ(DecideTier2(&tier1, {0, 10}, {.tier1_score_min = 11}), Tier2Need::kNone);
  EXPECT_EQ(DecideTier2(&tier1, {0, 10}, {.tier1_score_min = 12}), Tier2Need::kFewGoodHits);
}

TEST(DecideTier2Test, APageAfterTheLastHitNeedsTier2) {
  const TierAnswer tier1 = Hits(1, 15, 50);
  EXPECT_EQ(DecideTier2(&tier1, {10, 5}, {}), Tier2Need::kNone);
  EXPECT_EQ(DecideTier2(&tier1, {10, 6}, {}), Tier2Need::kPageIsBeyond);
}

TEST(DecideTier2Test, AFailedTier1NeedsTier2IfThereIsOne) {
  EXPECT_EQ(DecideTier2(nullptr, {0, 10}, {}), Tier2Need::kTier1Failed);
  EXPECT_EQ(DecideTier2(nullptr, {0, 10}, {.tier2_partitions = 0}), Tier2Need::kNone);
}

TEST(JoinTiersTest, TooFewHitsAreRankedTogether) {
  const TierAnswer joined = JoinTiers(Hits(1, 2, 5), Hits(7, 2, 9), Tier2Need::kFewGoodHits, 3);
  EXPECT_EQ(Ids(joined), (std::vector<uint64_t>{7, 8, 1}));
  EXPECT_EQ(joined.total(), 4u);
}

// Otherwise a result of the first page, which tier 1 answered alone, would be repeated here.
TEST(JoinTiersTest, HitsOfTier1StayInFrontOfALaterPage) {
  const TierAnswer joined = JoinTiers(Hits(1, 2, 5), Hits(7, 3, 9), Tier2Need::kPageIsBeyond, 4);
  EXPECT_EQ(Ids(joined), (std::vector<uint64_t>{1, 2, 7, 8}));
  EXPECT_EQ(joined.total(), 5u);
}

TEST(GroupByPartitionTest, KeepsPositions) {
  const auto groups = GroupByPartition({4, 7, 6, 9}, 3);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups.at(0), (std::vector<size_t>{2, 3}));
  EXPECT_EQ(groups.at(1), (std::vector<size_t>{0, 1}));
}

TEST(CacheKeyTest, DistinguishesPagesAndQueries) {
  EXPECT_NE(CacheKey("a", {0, 10}), CacheKey("a", {10, 10}));
  EXPECT_NE(CacheKey("a", {0, 10}), CacheKey("a", {0, 20}));
  EXPECT_NE(CacheKey("a", {0, 10}), CacheKey("b", {0, 10}));
  EXPECT_NE(CacheKey("1 a", {0, 1}), CacheKey("a", {0, 11}));
}

SearchAnswer CompleteAnswer() {
  SearchAnswer answer;
  answer.results = {{.doc_id = "17",
                     .url = "http://x/",
                     .title = "T",
                     .site = "s",
                     .snippet = {{"a ", false}, {"b", true}},
                     .score = 2.5}};
  answer.total = 31;
  answer.total_is_exact = false;
  answer.coverage.tiers = {
      {.service = "tier 1", .implementation = "segment", .partitions_asked = 4}};
  answer.coverage.documents = {
      .service = "documents", .implementation = "flat", .partitions_asked = 1};
  return answer;
}

TEST(MayCacheTest, OnlyCompleteAnswers) {
  EXPECT_TRUE(MayCache(CompleteAnswer()));
  SearchAnswer partial = CompleteAnswer();
  partial.coverage.tiers[0].missing.push_back({2, "deadline exceeded"});
  EXPECT_FALSE(MayCache(partial));
  SearchAnswer cut_short = CompleteAnswer();
  cut_short.coverage.tiers[0].evaluated_completely = false;
  EXPECT_FALSE(MayCache(cut_short));
  SearchAnswer without_summary = CompleteAnswer();
  without_summary.results[0].has_summary = false;
  EXPECT_FALSE(MayCache(without_summary));
}

TEST(CachedFormTest, KeepsTheAnswer) {
  const SearchAnswer stored = CompleteAnswer();
  SearchAnswer answer;
  answer.query = "As Typed";
  ASSERT_TRUE(FromCachedForm(ToCachedForm(stored), &answer).ok());
  EXPECT_EQ(answer.query, "As Typed");
  EXPECT_EQ(answer.total, 31u);
  EXPECT_FALSE(answer.total_is_exact);
  ASSERT_EQ(answer.results.size(), 1u);
  EXPECT_EQ(answer.results[0].doc_id, "17");
  EXPECT_EQ(answer.results[0].url, "http://x/");
  EXPECT_EQ(answer.results[0].snippet, stored.results[0].snippet);
  EXPECT_EQ(answer.results[0].score, 2.5);
  EXPECT_TRUE(answer.results[0].has_summary);
  ASSERT_EQ(answer.coverage.tiers.size(), 1u);
  EXPECT_EQ(answer.coverage.tiers[0].partitions_asked, 4u);
  EXPECT_EQ(answer.coverage.tiers[0].implementation, "segment");
  EXPECT_TRUE(answer.coverage.complete());
}

TEST(CachedFormTest, OtherBytesAreRefusedAndChangeNothing) {
  SearchAnswer answer = CompleteAnswer();
  EXPECT_EQ(FromCachedForm("\xff\xff\xff", &answer).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(answer.results.size(), 1u);
}

TEST(MissingReasonTest, IsHumanReadable) {
  EXPECT_EQ(MissingReason(neptune::Unavailable("no live replica of tier1/2.Search")),
            "no live replica");
  EXPECT_EQ(MissingReason(neptune::DeadlineExceeded("calling tier1/2.Search")),
            "deadline exceeded");
  EXPECT_EQ(MissingReason(neptune::ResourceExhausted("queue")), "overloaded");
  EXPECT_EQ(MissingReason(neptune::InvalidArgument("no positions")), "query refused");
}

TEST(NothingAnsweredTest, OverloadOnlyIfAllAreOverloaded) {
  Coverage coverage;
  coverage.tiers = {{.service = "tier 1",
                     .partitions_asked = 2,
                     .missing = {{0, "overloaded"}, {1, "overloaded"}}}};
  EXPECT_EQ(NothingAnswered(coverage).code(), StatusCode::kResourceExhausted);
  coverage.tiers[0].missing[1].reason = "no live replica";
  EXPECT_EQ(NothingAnswered(coverage).code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace search::frontend
