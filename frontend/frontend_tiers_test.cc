// Tests over HTTP in a simulated cluster which tiers a search asks, waits for and speaks for.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "frontend/testing/fake_services.h"
#include "frontend/testing/json_answer.h"
#include "frontend/testing/simulated_search.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrCat;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const char kCommon[] = "/search?q=common&format=json";
const char kRare[] = "/search?q=rare&format=json";

double TierCalls(SimulatedSearch& search, const std::string& tier) {
  return search.CallCount(tier, tier, "Search");
}

TEST(FrontendTiersTest, Tier1AloneAnswersIfTier2CannotChangeThePage) {
  SimulatedSearch search(1);
  const json answer = JsonAnswer(search.Get(kCommon));
  EXPECT_EQ(TierCalls(search, "tier1"), 2);
  EXPECT_EQ(TierCalls(search, "tier2"), 0);
  ASSERT_EQ(answer["results"].size(), 10u);
  EXPECT_EQ(answer["results"][0]["id"], "0");
  EXPECT_EQ(answer["results"][0]["title"], "Document 0");
  EXPECT_EQ(answer["results"][1]["url"], "http://documents.test/1");
  EXPECT_EQ(answer["total"], 2 * kCommonHitCount);
  EXPECT_EQ(answer["total_is_exact"], false);
  EXPECT_EQ(answer["partial"], false);
  EXPECT_EQ(answer["coverage"]["equals_single_index"], true);
  EXPECT_EQ(answer["coverage"]["tiers"].size(), 1u);
  EXPECT_EQ(answer["coverage"]["tiers"][0]["implementation"], "fake");
  EXPECT_EQ(answer["coverage"]["partitions_asked"], 2);
  EXPECT_EQ(answer["coverage"]["documents"]["partitions_answered"], 2);
  EXPECT_EQ(answer["coverage"]["cache"]["outcome"], "miss");
  EXPECT_GT(answer["took_ms"], 0);
}

TEST(FrontendTiersTest, Tier2IsAskedIfItMayEnterThePage) {
  SimulatedSearch search(2);
  const json answer = JsonAnswer(search.Get(kRare));
  EXPECT_EQ(TierCalls(search, "tier2"), 2);
  EXPECT_EQ(answer["total"], 2 + 2 * kTier2HitCount);
  EXPECT_EQ(answer["total_is_exact"], true);
  ASSERT_EQ(answer["results"].size(), 8u);
  // Ranked together: tier 2's documents score higher here.
  EXPECT_EQ(answer["results"][0]["id"], StrCat(kFirstTier2Document));
  EXPECT_EQ(answer["coverage"]["partitions_answered"], 4);
  EXPECT_EQ(search.Metric("search_tier2_decisions_total", {{"need", "may_enter_page"}}), 1);
}

TEST(FrontendTiersTest, Tier2IsAskedIfItsBoundsAreUnknown) {
  SimulatedSearch search(2);
  const json answer = JsonAnswer(search.Get("/search?q=common+unbounded&format=json"));
  EXPECT_EQ(TierCalls(search, "tier2"), 2);
  EXPECT_EQ(answer["coverage"]["equals_single_index"], true);
  EXPECT_EQ(search.Metric("search_tier2_decisions_total", {{"need", "no_bounds"}}), 1);
}

TEST(FrontendTiersTest, ATierWhosePartitionHasMoreHitsThanItsShareIsAskedForAll) {
  SimulatedSearch search(2);
  const json answer = JsonAnswer(search.Get("/search?q=lopsided&format=json&start=40&count=10"));
  EXPECT_EQ(TierCalls(search, "tier1"), 4);
  EXPECT_EQ(search.Metric("search_tier_asked_again_total", {}), 1);
  ASSERT_EQ(answer["results"].size(), 10u);
  EXPECT_EQ(answer["results"][0]["id"], StrCat(39 * 16)) << "one before it is of partition 1";
  EXPECT_EQ(answer["results"][9]["id"], StrCat(48 * 16));
  EXPECT_EQ(answer["partial"], false);
  (void)search.Get(kCommon);
  EXPECT_EQ(TierCalls(search, "tier1"), 6) << "no partition has more than its share";
}

TEST(FrontendTiersTest, ATierThatDoesNotKnowSharesIsAskedForAll) {
  SimulatedSearch search(2);
  const json answer = JsonAnswer(search.Get("/search?q=common+bygone&format=json"));
  EXPECT_EQ(TierCalls(search, "tier1"), 4);
  EXPECT_EQ(answer["results"].size(), 10u);
  EXPECT_EQ(answer["partial"], false);
}

TEST(FrontendTiersTest, QualitySaysWhatShareOfThePageIsSure) {
  SimulatedSearch search(2,
                         Parameter("tier2_policy", "quality") + Parameter("page_sure_min", "0.5"));
  const json answer = JsonAnswer(search.Get("/search?q=common&format=json&count=20"));
  EXPECT_EQ(TierCalls(search, "tier2"), 0);
  EXPECT_EQ(answer["results"].size(), 2u * kCommonHitCount);
  EXPECT_EQ(answer["coverage"]["sure_share"], 0.8);  // 16 of 20
  EXPECT_EQ(answer["coverage"]["complete"], true);
  EXPECT_EQ(answer["coverage"]["equals_single_index"], false);
  EXPECT_EQ(answer["total_is_exact"], false);
  const std::string page = search.Get("/search?q=common&count=20&fold=0").http.body;
  EXPECT_NE(page.find("80 % of this page is sure"), std::string::npos);
}

// All documents are of one site, and what is ranked after the page decides what is folded.
TEST(FrontendTiersTest, AFoldedPageIsSureOnlyIfWhatFollowsItIs) {
  SimulatedSearch search(2);
  const json plain = JsonAnswer(search.Get(kCommon));
  EXPECT_EQ(plain["coverage"]["equals_single_index"], true);
  const json folded = JsonAnswer(search.Get("/search?q=common&format=json&fold=1"));
  EXPECT_EQ(folded["coverage"]["tiers"].size(), 1u);
  EXPECT_EQ(folded["coverage"]["equals_single_index"], false);
  EXPECT_LT(folded["coverage"]["sure_share"], 1);
}

TEST(FrontendTiersTest, BothTiersAreAskedAtOnceOnceSkipsAreRare) {
  SimulatedSearch search(2);
  const auto took = [&] { return search.Get(kRare, {{"Cache-Control", "no-cache"}}).took; };
  (void)took();  // connects
  const neptune::Duration one_by_one = took();
  for (int i = 0; i < 20; ++i) (void)took();
  const neptune::Duration at_once = took();
  EXPECT_LT(at_once, one_by_one);
}

TEST(FrontendTiersTest, ATierThatCannotChangeThePageIsNotAwaited) {
  SimulatedSearch search(2);
  for (int i = 0; i < 20; ++i) (void)search.Get(kRare, {{"Cache-Control", "no-cache"}});
  for (const char* node : {"tier2-0", "tier2-1"}) search.simulator().Pause(node);
  const TimedResponse response = search.Get(kCommon);
  EXPECT_LT(response.took, milliseconds(100));
  const json answer = JsonAnswer(response);
  EXPECT_EQ(answer["partial"], false);
  EXPECT_EQ(answer["coverage"]["equals_single_index"], true);
  for (const char* node : {"tier2-0", "tier2-1"}) search.simulator().Resume(node);
  search.RunFor(seconds(1));
  const neptune::MetricLabels stopped = {
      {"service", "tier2"}, {"method", "Search"}, {"outcome", "cancelled"}};
  EXPECT_EQ(search.Metric("neptune_calls_total", stopped), 1)
      << "both tiers were to be asked at once, and tier 2 to stop";
}

TEST(FrontendTiersTest, AnEmptySecondTierDoesNotHideThatTheFirstIsDead) {
  SimulatedSearch search(10);
  search.simulator().Crash("tier1-0");
  search.simulator().Crash("tier1-1");
  search.RunFor(seconds(8));
  EXPECT_EQ(search.Get("/search?q=nowhere&format=json").http.status, 503);
}

TEST(FrontendTiersTest, Tier2AnswersAloneIfTier1IsDead) {
  SimulatedSearch search(10);
  search.simulator().Crash("tier1-0");
  search.simulator().Crash("tier1-1");
  search.RunFor(seconds(8));
  const json answer = JsonAnswer(search.Get(kCommon));
  EXPECT_EQ(answer["partial"], true);
  EXPECT_EQ(answer["results"].size(), 2u * kTier2HitCount);
  EXPECT_EQ(answer["coverage"]["partitions_answered"], 2);
}

TEST(FrontendTiersTest, ASiteMayExistInATierThatWasNotAsked) {
  SimulatedSearch search(19);
  const json answer = JsonAnswer(search.Get("/search?q=nowhere+site%3Anosuchsite&format=json"));
  EXPECT_EQ(TierCalls(search, "tier2"), 0);
  EXPECT_EQ(answer["total"], 0);
  EXPECT_EQ(answer["notes"], json::array());
}

TEST(FrontendTiersTest, ACutPrefixIsNeverSaidToBeComplete) {
  SimulatedSearch search(19);
  const json answer = JsonAnswer(search.Get("/search?q=common+cutprefix&format=json"));
  EXPECT_GT(answer["results"].size(), 0u);
  EXPECT_EQ(answer["total_is_exact"], false);
  EXPECT_EQ(answer["coverage"]["sure_share"], 0);
  EXPECT_EQ(answer["coverage"]["equals_single_index"], false);
  EXPECT_EQ(answer["notes"].size(), 1u);
}

}  // namespace
}  // namespace search::frontend
