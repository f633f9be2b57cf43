#include "frontend/render/wording/wording.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

SearchAnswer Answered(uint32_t partitions_asked) {
  SearchAnswer answer;
  answer.took = microseconds(4'120);
  answer.coverage.cache.outcome = CacheUse::Outcome::kMiss;
  answer.coverage.tiers.push_back({.service = "tier 1", .partitions_asked = partitions_asked});
  return answer;
}

TEST(WordingTest, GroupsDigits) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1'000), "1,000");
  EXPECT_EQ(FormatCount(1'234'567), "1,234,567");
}

TEST(WordingTest, TimesHaveTwoDigitsOrMore) {
  EXPECT_EQ(FormatTook(microseconds(40)), "0.0 ms");
  EXPECT_EQ(FormatTook(microseconds(4'120)), "4.1 ms");
  EXPECT_EQ(FormatTook(microseconds(9'960)), "10 ms");
  EXPECT_EQ(FormatTook(milliseconds(250)), "250 ms");
  EXPECT_EQ(FormatTook(milliseconds(1'240)), "1.2 s");
}

TEST(WordingTest, WallTimeIsRfc3339) {
  EXPECT_EQ(FormatWallTime({1'772'357'400'123'456'789}), "2026-03-01T09:30:00Z");
  EXPECT_EQ(FormatWallTime({0}), "1970-01-01T00:00:00Z");
}

TEST(WordingTest, TotalSaysWhetherItIsExact) {
  SearchAnswer answer;
  EXPECT_EQ(TotalSentence(answer), "no results");
  answer.total = 1;
  EXPECT_EQ(TotalSentence(answer), "1 result");
  answer.total = 12'345;
  answer.total_is_exact = false;
  EXPECT_EQ(TotalSentence(answer), "at least 12,345 results");
}

TEST(WordingTest, ClaimsOnlyWhatIsProven) {
  Coverage coverage;
  EXPECT_EQ(ClaimSentence(coverage),
            "The answer is complete: this page is what one single index would give.");
  coverage.sure_share = 0.7;
  EXPECT_EQ(ClaimSentence(coverage),
            "Tier 2 was not asked, to save time: 70 % of this page is sure to be what one single "
            "index would give.");
  coverage.documents.evaluated_completely = false;
  EXPECT_EQ(ClaimSentence(coverage), "The answer is incomplete: the table lists what is missing.");
}

TEST(WordingTest, RangeIsOfThisPage) {
  SearchAnswer answer;
  answer.total = 3;
  answer.results.resize(3);
  EXPECT_EQ(RangeSentence(answer), "3 results");
  answer.total = 1'500;
  answer.start = 10;
  answer.results.resize(10);
  EXPECT_EQ(RangeSentence(answer), "11–20 of 1,500 results");
  answer.start = 0;
  answer.covered_count = 17;
  EXPECT_EQ(RangeSentence(answer), "1–17 of 1,500 results, 7 folded");
}

TEST(WordingTest, CoverageNamesPartitionsTiersCacheAndTime) {
  SearchAnswer answer = Answered(8);
  EXPECT_EQ(CoverageSentence(answer),
            "searched 8 of 8 partitions, tier 1 only, not cached, 4.1 ms");
  answer.coverage.tiers[0].missing.push_back({3, "no live replica"});
  answer.coverage.tiers.push_back({.service = "tier 2", .partitions_asked = 4});
  answer.coverage.cache = {.outcome = CacheUse::Outcome::kHit, .age = seconds(12)};
  EXPECT_EQ(CoverageSentence(answer),
            "searched 11 of 12 partitions, tier 1 and tier 2, cached, 4.1 ms");
  answer.coverage.cache.newer_version = 8;
  EXPECT_EQ(CoverageSentence(answer),
            "searched 11 of 12 partitions, tier 1 and tier 2, cached, of the former index, 4.1 ms");
}

TEST(WordingTest, ACachedAnswerWasComputedBefore) {
  SearchAnswer answer;
  answer.answered_at = {1'772'357'400'000'000'000};
  EXPECT_EQ(ComputedAt(answer), "2026-03-01T09:30:00Z");
  answer.coverage.cache = {.outcome = CacheUse::Outcome::kHit, .age = seconds(90)};
  EXPECT_EQ(ComputedAt(answer), "2026-03-01T09:28:30Z");
}

TEST(WordingTest, MissingPartitionsAreNamedWithTheReason) {
  SearchAnswer answer = Answered(8);
  EXPECT_TRUE(MissingSentences(answer.coverage).empty());
  answer.coverage.tiers[0].missing.push_back({3, "no live replica"});
  EXPECT_EQ(MissingSentences(answer.coverage),
            std::vector<std::string>{"Tier 1, partition 3, did not answer (no live replica): its "
                                     "documents could not be found."});
}

TEST(WordingTest, MissingPartitionsAreBounded) {
  SearchAnswer answer = Answered(1'000);
  for (uint32_t i = 0; i < 1'000; ++i) answer.coverage.tiers[0].missing.push_back({i, "gone"});
  const std::vector<std::string> sentences = MissingSentences(answer.coverage);
  EXPECT_EQ(sentences.size(), kMissingSentencesMax + 1);
  EXPECT_EQ(sentences.back(), "992 more partitions did not answer.");
}

TEST(WordingTest, CutEvaluationIsIncomplete) {
  SearchAnswer answer = Answered(8);
  answer.coverage.tiers[0].evaluated_completely = false;
  EXPECT_FALSE(answer.coverage.complete());
  EXPECT_EQ(MissingSentences(answer.coverage),
            std::vector<std::string>{
                "Tier 1 ran out of time: it gave the best documents found until then."});
}

TEST(WordingTest, PartitionsThatWereEndedEarlyAreNamed) {
  SearchAnswer answer = Answered(8);
  answer.coverage.tiers[0].ended_early = {1, 3};
  EXPECT_FALSE(answer.coverage.complete());
  EXPECT_EQ(MissingSentences(answer.coverage),
            std::vector<std::string>{
                "Tier 1, partitions 1 and 3, cut this search short because it took too long: the "
                "best documents found until then are here."});
}

TEST(WordingTest, APartitionThatWasEndedEarlyWithNothingIsMissingOnly) {
  SearchAnswer answer = Answered(8);
  answer.coverage.tiers[0].ended_early = {3};
  answer.coverage.tiers[0].missing = {{3, "ended early"}};
  EXPECT_EQ(MissingSentences(answer.coverage),
            std::vector<std::string>{"Tier 1, partition 3, did not answer (ended early): its "
                                     "documents could not be found."});
}

TEST(WordingTest, UnmetDemandsAreNamed) {
  SearchAnswer answer = Answered(8);
  EXPECT_EQ(UnmetSentence(answer), "");
  answer.unmet_demands = {"stash"};
  EXPECT_EQ(UnmetSentence(answer), "No page has stash. These pages have some of the words.");
  answer.unmet_demands = {"\"hash map\""};
  EXPECT_EQ(UnmetSentence(answer),
            "No page contains the phrase \"hash map\". These pages have some of the words.");
  answer.unmet_demands.push_back("stash");
  answer.narrowings = {{true, "java", "x"}};
  EXPECT_EQ(UnmetSentence(answer),
            "No page that is not filtered out or excluded has all of this: \"hash map\", stash. "
            "These pages have some of the words.");
}

TEST(WordingTest, AnEarlierSearchThatMissedPartitionsMakesTheAnswerPartial) {
  SearchAnswer answer = Answered(8);
  answer.unmet_demands = {"stash"};
  answer.coverage.earlier_is_complete = false;
  EXPECT_FALSE(answer.coverage.complete());
  EXPECT_EQ(UnmetSentence(answer),
            "No page that could be searched has stash. These pages have some of the words.");
  EXPECT_EQ(MissingSentences(answer.coverage).size(), 1u);
}

TEST(WordingTest, ListsAreBounded) {
  EXPECT_EQ(Listed({}), "");
  EXPECT_EQ(Listed({3}), "3");
  EXPECT_EQ(Listed({0, 1, 2, 3, 4, 5, 6, 7}), "0, 1, 2, 3, 4, 5, 6 and 7");
  EXPECT_EQ(Listed({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
}

}  // namespace
}  // namespace search::frontend
