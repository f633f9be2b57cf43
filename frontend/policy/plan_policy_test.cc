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

TEST(MakeTierQueryTest, AsksForTheHitsUpToTheEndOfThePage) {
  EXPECT_EQ(MakeTierQuery("x", {0, 10}, {}).hit_count_max(), 10u);
  EXPECT_EQ(MakeTierQuery("x", {30, 10}, {}).hit_count_max(), 40u);
  EXPECT_EQ(MakeTierQuery("x", {999, 1}, {}).hit_count_max(), 1000u);
}

TEST(DecideTier2Test, OnlyASurePageIsSafe) {
  const TierAnswer tier1 = Hits(1, 10, 50);
  EXPECT_EQ(DecideTier2(&tier1, true, 1, {}), Tier2Need::kNone);
  EXPECT_EQ(DecideTier2(&tier1, true, 0.9, {}), Tier2Need::kMayEnterPage);
  EXPECT_EQ(DecideTier2(&tier1, false, 0, {}), Tier2Need::kNoBounds);
}

TEST(DecideTier2Test, QualityAsksForAShare) {
  const TierAnswer tier1 = Hits(1, 10, 50);
  const SearchPlanOptions options{.tier2_policy = kTier2Quality, .page_sure_min = 0.7};
  EXPECT_EQ(DecideTier2(&tier1, true, 0.7, options), Tier2Need::kNone);
  EXPECT_EQ(DecideTier2(&tier1, true, 0.6, options), Tier2Need::kMayEnterPage);
}

TEST(DecideTier2Test, AlwaysAsks) {
  const TierAnswer tier1 = Hits(1, 10, 50);
  EXPECT_EQ(DecideTier2(&tier1, true, 1, {.tier2_policy = kTier2Always}), Tier2Need::kAlways);
}

TEST(DecideTier2Test, AFailedTier1NeedsTier2IfThereIsOne) {
  EXPECT_EQ(DecideTier2(nullptr, false, 0, {}), Tier2Need::kTier1Failed);
  EXPECT_EQ(DecideTier2(nullptr, false, 0, {.tier2_partitions = 0}), Tier2Need::kNone);
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
  EXPECT_NE(CacheKey("a", {0, 10}), CacheKey("a", {0, 10, true}));
  EXPECT_NE(CacheKey("1 a", {0, 1}), CacheKey("a", {0, 11}));
  EXPECT_NE(CacheKey("a", {0, 10}, "s"), CacheKey("a", {0, 10}));
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
  answer.coverage.sure_share = 0.75;
  answer.coverage.documents = {
      .service = "documents", .implementation = "flat", .partitions_asked = 1};
  return answer;
}

SearchAnswer PartialAnswer() {
  SearchAnswer partial = CompleteAnswer();
  partial.coverage.tiers[0].missing.push_back({2, "deadline exceeded"});
  return partial;
}

TEST(CacheLifeTest, PartialAnswersLiveShortly) {
  SearchPlanOptions options;
  EXPECT_EQ(CacheLife(CompleteAnswer(), options), options.cache_time_to_live);
  EXPECT_EQ(CacheLife(PartialAnswer(), options), options.cache_partial_time_to_live);
  SearchAnswer cut_short = CompleteAnswer();
  cut_short.coverage.tiers[0].evaluated_completely = false;
  EXPECT_EQ(CacheLife(cut_short, options), options.cache_partial_time_to_live);
  SearchAnswer without_summary = CompleteAnswer();
  without_summary.results[0].has_summary = false;
  EXPECT_FALSE(IsWhole(without_summary));
  EXPECT_EQ(CacheLife(without_summary, options), options.cache_partial_time_to_live);
  options.cache_partial_time_to_live = neptune::Duration(0);
  EXPECT_EQ(CacheLife(PartialAnswer(), options), neptune::Duration(0));
}

TEST(CacheLifeTest, EmptyAnswersLiveLess) {
  const SearchPlanOptions options;
  SearchAnswer empty = CompleteAnswer();
  empty.results.clear();
  EXPECT_EQ(CacheLife(empty, options), options.cache_time_to_live) << "a page past the last result";
  empty.total = 0;
  EXPECT_EQ(CacheLife(empty, options), options.cache_empty_time_to_live);
}

TEST(CacheLifeTest, NoLifeIsLongerThanThatOfAnyAnswer) {
  SearchPlanOptions options;
  options.cache_time_to_live = std::chrono::milliseconds(100);
  SearchAnswer empty;
  EXPECT_EQ(CacheLife(empty, options), options.cache_time_to_live);
  EXPECT_EQ(CacheLife(PartialAnswer(), options), options.cache_time_to_live);
}

TEST(CacheLifeTest, AnswersWithoutAnOutcomeOfEachPartAreNotCached) {
  const SearchPlanOptions options;
  SearchAnswer late_spelling = CompleteAnswer();
  late_spelling.spelling_is_complete = false;
  EXPECT_EQ(CacheLife(late_spelling, options), neptune::Duration(0));
  SearchAnswer uncounted = CompleteAnswer();
  uncounted.site_facets.emplace().is_complete = false;
  EXPECT_EQ(CacheLife(uncounted, options), neptune::Duration(0));
}

TEST(CacheKeyTest, VersionsThatAreAskedForHaveEntriesOfTheirOwn) {
  EXPECT_NE(CacheKey("a", {0, 10}, "", 7), CacheKey("a", {0, 10}, "", 8));
  EXPECT_NE(CacheKey("a", {0, 10}, "", 7), CacheKey("a", {0, 10}));
  EXPECT_NE(CacheKey("7 a", {0, 10}), CacheKey("a", {0, 10}, "", 7));
}

TEST(CachedFormTest, KeepsWhatIsMissing) {
  SearchAnswer stored = PartialAnswer();
  stored.coverage.tiers[0].evaluated_completely = false;
  stored.coverage.tiers[0].ended_early = {1, 3};
  stored.coverage.earlier_is_complete = false;
  stored.results[0].has_summary = false;
  SearchAnswer answer;
  ASSERT_TRUE(FromCachedForm(ToCachedForm(stored), &answer).ok());
  const ServiceCoverage& tier = answer.coverage.tiers[0];
  ASSERT_EQ(tier.missing.size(), 1u);
  EXPECT_EQ(tier.missing[0].partition, 2u);
  EXPECT_EQ(tier.missing[0].reason, "deadline exceeded");
  EXPECT_FALSE(tier.evaluated_completely);
  EXPECT_EQ(tier.ended_early, (std::vector<uint32_t>{1, 3}));
  EXPECT_FALSE(answer.coverage.earlier_is_complete);
  EXPECT_FALSE(answer.results[0].has_summary);
}

TEST(CachedFormTest, AnEqualQuestionAdoptsWhatTheCacheWouldGive) {
  SearchAnswer stored = PartialAnswer();
  stored.results[0].lacks = {"as typed"};
  stored.index_notes = {"of the index"};
  SearchAnswer cached;
  cached.notes = {"of the question"};
  SearchAnswer adopted = cached;
  ASSERT_TRUE(FromCachedForm(ToCachedForm(stored), &cached).ok());
  AdoptComputed(stored, &adopted);
  EXPECT_EQ(ToCachedForm(adopted), ToCachedForm(cached));
  EXPECT_EQ(adopted.notes, cached.notes);
  EXPECT_TRUE(adopted.results[0].lacks.empty());
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
  EXPECT_EQ(answer.coverage.sure_share, 0.75);
  EXPECT_FALSE(answer.coverage.equals_single_index());
}

TEST(CachedFormTest, KeepsTheNotesOfTheIndexOnly) {
  SearchAnswer stored = CompleteAnswer();
  stored.notes = {"of the query", "of the index"};
  stored.index_notes = {"of the index"};
  SearchAnswer answer;
  answer.notes = {"of the query"};
  ASSERT_TRUE(FromCachedForm(ToCachedForm(stored), &answer).ok());
  EXPECT_EQ(answer.notes, stored.notes);
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

TEST(PlanPolicyTest, HiddenCacheKeysShowNothingAndDifferByKeyAndSecret) {
  const std::string key = CacheKey("a secret question", {0, 10});
  const std::string hidden = HiddenCacheKey(key, "one");
  EXPECT_EQ(hidden, HiddenCacheKey(key, "one"));
  EXPECT_EQ(hidden.find("question"), std::string::npos);
  EXPECT_NE(hidden, HiddenCacheKey(key, "two"));
  EXPECT_NE(hidden, HiddenCacheKey(key, ""));
  EXPECT_NE(hidden, HiddenCacheKey(CacheKey("a secret question", {10, 10}), "one"));
  EXPECT_EQ(hidden.size(), 7u + 64u);
}

}  // namespace
}  // namespace search::frontend
