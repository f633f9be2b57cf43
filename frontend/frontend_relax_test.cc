// Tests questions whose demands nothing meets, and running text, over HTTP in a simulated cluster.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "frontend/testing/fake_services.h"
#include "frontend/testing/json_answer.h"
#include "frontend/testing/simulated_search.h"

namespace search::frontend {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kApart[] = "/search?q=%22common+apart%22&format=json";

double SearchCalls(SimulatedSearch& search) {
  return search.CallCount("tier1", "tier1", "Search") +
         search.CallCount("tier2", "tier2", "Search");
}

TEST(FrontendRelaxTest, APhraseThatNoPageHasIsSearchedAsItsWords) {
  SimulatedSearch search(1);
  const json answer = JsonAnswer(search.Get(kApart));
  EXPECT_EQ(answer["query"], "\"common apart\"");
  EXPECT_EQ(answer["relaxed"]["demands"], json::parse(R"(["\"common apart\""])"));
  EXPECT_EQ(answer["relaxed"]["note"],
            "No page contains the phrase \"common apart\". These pages have some of the words.");
  EXPECT_EQ(answer["relaxed"]["exactly"], "/search?q=%22common+apart%22&format=json&relax=0");
  EXPECT_EQ(answer["results"].size(), 10u);
  EXPECT_EQ(answer["results"][0]["snippet"], "common OR apart") << "summaries are for the words";
  EXPECT_TRUE(answer["corrected"].is_null());
  EXPECT_TRUE(answer["given_up"].empty()) << "no question demands a word of the phrase";
  EXPECT_EQ(answer["partial"], false);
  EXPECT_EQ(answer["coverage"]["equals_single_index"], true);
  EXPECT_EQ(answer["links"]["next"], "/search?q=%22common+apart%22&start=10&format=json");
  EXPECT_EQ(search.Metric("search_relaxed_total", {}), 1);
}

TEST(FrontendRelaxTest, ThePageSaysSoAndLinksToTheExactQuestion) {
  SimulatedSearch search(2);
  const std::string page = search.Get("/search?q=%22common+apart%22").http.body;
  EXPECT_NE(page.find("No page contains the phrase"), std::string::npos);
  EXPECT_NE(page.find("/search?q=%22common+apart%22&amp;relax=0"), std::string::npos);
  const std::string feed = search.Get("/search?q=%22common+apart%22&format=rss").http.body;
  EXPECT_NE(feed.find("No page contains the phrase"), std::string::npos);
}

TEST(FrontendRelaxTest, WhoInsistsGetsNothing) {
  SimulatedSearch search(3);
  for (int i = 0; i < 2; ++i) {
    const json answer = JsonAnswer(search.Get("/search?q=%22common+apart%22&format=json&relax=0"));
    EXPECT_EQ(answer["total"], 0);
    EXPECT_TRUE(answer["relaxed"].is_null());
    EXPECT_EQ(answer["links"]["self"], "/search?q=%22common+apart%22&format=json&relax=0");
    search.RunFor(milliseconds(100));
  }
  // The cache keeps both apart.
  EXPECT_FALSE(JsonAnswer(search.Get(kApart))["relaxed"].is_null());
  EXPECT_EQ(search.Get("/search?q=common&relax=2").http.status, 400);
}

TEST(FrontendRelaxTest, QuestionsThatDemandNothingAskOnce) {
  SimulatedSearch search(4);
  const json answer = JsonAnswer(search.Get("/search?q=nowhere&format=json"));
  EXPECT_EQ(answer["total"], 0);
  EXPECT_TRUE(answer["relaxed"].is_null());
  const double calls = SearchCalls(search);
  EXPECT_TRUE(JsonAnswer(search.Get("/search?q=%2Bnowhere&format=json"))["relaxed"].is_null());
  EXPECT_LE(SearchCalls(search), 2 * calls);
  // The words find nothing either: the page of the question as it was asked.
  const json none = JsonAnswer(search.Get("/search?q=%22nowhere+apart%22&format=json"));
  EXPECT_EQ(none["total"], 0);
  EXPECT_TRUE(none["relaxed"].is_null());
  EXPECT_EQ(search.Metric("search_relaxed_total", {}), 0);
}

TEST(FrontendRelaxTest, RelaxedPagesComeFromTheCache) {
  SimulatedSearch search(5);
  json first;
  for (int i = 0; i < 2; ++i) {
    first = JsonAnswer(search.Get(kApart));
    search.RunFor(milliseconds(100));
  }
  const double calls = SearchCalls(search);
  const json again = JsonAnswer(search.Get(kApart));
  EXPECT_EQ(again["coverage"]["cache"]["hit"], true);
  EXPECT_EQ(again["relaxed"], first["relaxed"]);
  EXPECT_EQ(again["results"], first["results"]);
  EXPECT_EQ(SearchCalls(search), calls);
}

TEST(FrontendRelaxTest, AnAnswerThatMissedPartitionsIsPartialAndNotKept) {
  SimulatedSearch search(6);
  search.simulator().Pause("tier2-1");
  // Tier 2 is asked, because its bounds are unknown.
  const char target[] = "/search?q=%22common+unbounded+apart%22&format=json";
  for (int i = 0; i < 2; ++i) {
    const json answer = JsonAnswer(search.Get(target));
    EXPECT_EQ(answer["partial"], true);
    EXPECT_EQ(answer["coverage"]["equals_single_index"], false);
    EXPECT_EQ(answer["coverage"]["cache"]["hit"], false);
    EXPECT_GT(answer["total"], 0);
    EXPECT_NE(answer["relaxed"]["note"].get<std::string>().find("that could be searched"),
              std::string::npos);
    search.RunFor(seconds(1));
  }
}

TEST(FrontendRelaxTest, ASearchThatWasCutIsNotFollowedByOneThatDemandsLess) {
  SimulatedSearch search(13);
  const std::string target = "/search?q=%22common+apart%22+futile";
  const json answer = JsonAnswer(search.Get(target + "&format=json"));
  EXPECT_EQ(answer["total"], 0);
  EXPECT_EQ(answer["total_is_exact"], false);
  EXPECT_TRUE(answer["relaxed"].is_null()) << "a page with the phrase may have been missed";
  EXPECT_EQ(answer["partial"], true);
  EXPECT_EQ(answer["coverage"]["complete"], false);
  EXPECT_EQ(answer["coverage"]["tiers"][0]["evaluated_completely"], false);
  EXPECT_EQ(answer["coverage"]["tiers"][0]["ended_early"], json{1});
  EXPECT_EQ(search.Metric("search_relaxed_total", {}), 0);
  const std::string page = search.Get(target).http.body;
  EXPECT_NE(page.find("In the time there was, no document was found for"), std::string::npos);
  EXPECT_NE(page.find("Tier 1, partition 1, cut this search short"), std::string::npos);
  EXPECT_EQ(page.find("These pages have some of the words"), std::string::npos);
}

TEST(FrontendRelaxTest, ASearchThatWasCutOffersAnotherSpelling) {
  SimulatedSearch search(14);
  const json answer = JsonAnswer(search.Get("/search?q=%22comon+apart%22+futile&format=json"));
  EXPECT_EQ(answer["total"], 0);
  EXPECT_TRUE(answer["corrected"].is_null());
  EXPECT_EQ(answer["did_you_mean"]["query"], "\"common apart\" futile");
  EXPECT_EQ(answer["coverage"]["tiers"][0]["evaluated_completely"], false);
}

TEST(FrontendRelaxTest, ASureSpellingOfADemandIsRelaxedToo) {
  SimulatedSearch search(7);
  const json answer = JsonAnswer(search.Get("/search?q=%22comon+apart%22&format=json"));
  EXPECT_EQ(answer["corrected"]["query"], "\"common apart\"");
  EXPECT_EQ(answer["relaxed"]["demands"], json::parse(R"(["\"common apart\""])"));
  EXPECT_EQ(answer["results"].size(), 10u);
  const json typed = JsonAnswer(search.Get("/search?q=%22xcomon+apart%22&format=json"));
  EXPECT_TRUE(typed["corrected"].is_null()) << "the spelling is not sure";
}

TEST(FrontendRelaxTest, DetailsAreOfWhatIsShown) {
  SimulatedSearch search(8);
  const json answer = JsonAnswer(
      search.Get("/search?q=%22common+apart%22&format=json&explain=1&facets=site&count=3"));
  const json& sites = answer["facets"]["site"];
  EXPECT_GT(sites["total"], 0);
  EXPECT_EQ(sites["values"][0]["query"], "\"common apart\" site:git");
  for (const json& result : answer["results"]) {
    EXPECT_EQ(result["explanation"]["is_current"], true) << result;
  }
}

TEST(FrontendRelaxTest, ThePageOfADocumentMarksTheWords) {
  SimulatedSearch search(9);
  EXPECT_NE(search.Get("/doc/0?q=%22common+words%22").http.body.find("1 match is marked"),
            std::string::npos);
}

TEST(FrontendRelaxTest, NothingInRunningTextIsAnOperator) {
  SimulatedSearch search(10);
  const char target[] =
      "/search?q=%22common+apart%22+-rare+site%3Agit&syntax=plain&format=json&facets=site";
  const json answer = JsonAnswer(search.Get(target));
  EXPECT_TRUE(answer["relaxed"].is_null());
  EXPECT_TRUE(answer["narrowed_by"].empty());
  EXPECT_TRUE(answer["given_up"].empty());
  EXPECT_GT(answer["total"], 0);
  EXPECT_NE(answer["results"][0]["snippet"].get<std::string>().find("common OR apart OR "),
            std::string::npos);
  EXPECT_NE(answer["links"]["next"].get<std::string>().find("&syntax=plain&"), std::string::npos);
  EXPECT_FALSE(answer["facets"]["site"]["values"][0].contains("link"));
  search.RunFor(milliseconds(100));
  EXPECT_TRUE(JsonAnswer(search.Get(target))["narrowed_by"].empty());
  const json typed = JsonAnswer(search.Get("/search?q=common+apart&format=json"));
  EXPECT_EQ(typed["links"]["next"], "/search?q=common+apart&start=10&format=json");
}

TEST(FrontendRelaxTest, AnUnknownSyntaxIsRefused) {
  SimulatedSearch search(11);
  const TimedResponse refused = search.Get("/search?q=common&syntax=regex&format=json");
  EXPECT_EQ(refused.http.status, 400);
  const json problem = JsonBody(refused);
  EXPECT_EQ(problem["parameter"], "syntax");
  EXPECT_NE(problem["detail"].get<std::string>().find("query or plain"), std::string::npos);
  EXPECT_EQ(search.Get("/search?q=common&syntax=query").http.status, 200);
}

TEST(FrontendRelaxTest, TheGateLearnsTheLoadOfAllSearches) {
  SimulatedSearch search(12);
  const double limit = search.Metric("search_gate_limit", {});
  const json answer = JsonAnswer(search.Get("/search?q=crowded+comon&format=json"));
  EXPECT_EQ(answer["corrected"]["query"], "crowded common");
  EXPECT_EQ(answer["partial"], true) << "the first search missed a partition";
  EXPECT_LT(search.Metric("search_gate_limit", {}), limit) << "it was refused there";
}

}  // namespace
}  // namespace search::frontend
