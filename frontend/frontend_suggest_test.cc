// Tests completions and other spellings over HTTP in a simulated cluster with fake tiers.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "frontend/testing/fake_services.h"
#include "frontend/testing/simulated_search.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrCat;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

json Body(const TimedResponse& response) {
  const json body = json::parse(response.http.body, nullptr, false);
  EXPECT_FALSE(body.is_discarded()) << response.http.status << " " << response.http.body;
  return body;
}

json Completions(const TimedResponse& response) {
  EXPECT_EQ(response.http.status, 200) << response.http.body;
  return Body(response);
}

double SuggestCalls(SimulatedSearch& search) {
  return search.CallCount("tier1", "tier1", "Suggest") +
         search.CallCount("tier2", "tier2", "Suggest");
}

TEST(FrontendSuggestTest, CompletionsAreOpenSearchSuggestions) {
  SimulatedSearch search(1);
  const TimedResponse response = search.Get("/suggest?q=Com");
  EXPECT_EQ(Completions(response), json::parse(R"(["Com", ["common lisp", "common sense"]])"));
  EXPECT_EQ(response.http.headers.Get("Content-Type"), "application/x-suggestions+json");
  EXPECT_NE(response.http.headers.Get("Cache-Control").find("max-age"), std::string_view::npos);
  EXPECT_EQ(SuggestCalls(search), 4);
  EXPECT_EQ(search.Metric("search_suggest_requests_total", {{"outcome", "complete"}}), 1);
}

TEST(FrontendSuggestTest, EmptyTextHasNoCompletions) {
  SimulatedSearch search(2);
  EXPECT_EQ(Completions(search.Get("/suggest?q=")), json::parse(R"(["", []])"));
  EXPECT_EQ(Completions(search.Get("/suggest")), json::parse(R"(["", []])"));
  EXPECT_EQ(Completions(search.Get("/suggest?q=zzz")), json::parse(R"(["zzz", []])"));
  EXPECT_EQ(search.Get("/suggest?q=%FF").http.status, 400);
  EXPECT_EQ(search.Get(StrCat("/suggest?q=", std::string(5000, 'a'))).http.status, 400);
}

TEST(FrontendSuggestTest, APhraseAfterOtherWordsIsProposedIfItFindsSomething) {
  SimulatedSearch search(3);
  EXPECT_EQ(Completions(search.Get("/suggest?q=anything+common+s"))[1],
            json::parse(R"(["anything common sense"])"));
  EXPECT_EQ(Completions(search.Get("/suggest?q=nowhere+common+s"))[1], json::array());
}

TEST(FrontendSuggestTest, TheSameTextIsCompletedFromTheCache) {
  SimulatedSearch search(4);
  // The frontend learns the index version from the first answer.
  for (int i = 0; i < 2; ++i) {
    Completions(search.Get("/suggest?q=ra"));
    search.RunFor(milliseconds(100));
  }
  const double calls = SuggestCalls(search);
  EXPECT_EQ(Completions(search.Get("/suggest?q=ra"))[1], json::parse(R"(["rare bird"])"));
  EXPECT_EQ(SuggestCalls(search), calls);
  Completions(search.Get("/suggest?q=ra", {{"Cache-Control", "no-cache"}}));
  EXPECT_EQ(SuggestCalls(search), calls + 4);
}

TEST(FrontendSuggestTest, AHungPartitionLosesOnlyItsPhrases) {
  SimulatedSearch search(5);
  search.simulator().Pause("tier2-1");
  const TimedResponse response = search.Get("/suggest?q=com");
  EXPECT_EQ(Completions(response)[1], json::parse(R"(["common lisp", "common sense"])"));
  EXPECT_EQ(response.http.headers.Get("Cache-Control"), "no-store");
  EXPECT_LT(response.took, milliseconds(150));
  EXPECT_EQ(search.Metric("search_suggest_requests_total", {{"outcome", "partial"}}), 1);
}

TEST(FrontendSuggestTest, TiersWithoutSuggestionsAreNoError) {
  SimulatedSearch search(6);
  const TimedResponse response = search.Get("/suggest?q=unoffered");
  EXPECT_EQ(Completions(response)[1], json::array());
  EXPECT_EQ(search.Metric("search_suggest_requests_total", {{"outcome", "complete"}}), 1);
  const json answer = Body(search.Get("/search?q=unoffered&format=json"));
  EXPECT_EQ(answer["total"], 0);
  EXPECT_TRUE(answer["did_you_mean"].is_null());
}

TEST(FrontendSuggestTest, AnotherSpellingIsProposed) {
  SimulatedSearch search(7);
  const json answer = Body(search.Get("/search?q=comon&format=json"));
  EXPECT_EQ(answer["total"], 0);
  EXPECT_EQ(answer["did_you_mean"]["query"], "common");
  EXPECT_EQ(answer["did_you_mean"]["link"], "/search?q=common&format=json");
  EXPECT_NE(search.Get("/search?q=comon").http.body.find("Did you mean"), std::string::npos);
  EXPECT_TRUE(Body(search.Get("/search?q=common&format=json"))["did_you_mean"].is_null());
  // A spelling that also finds nothing is not proposed.
  EXPECT_TRUE(Body(search.Get("/search?q=nowhere+comon&format=json"))["did_you_mean"].is_null());
}

TEST(FrontendSuggestTest, AnotherSpellingComesFromTheCacheToo) {
  SimulatedSearch search(8);
  const char target[] = "/search?q=comon&format=json";
  for (int i = 0; i < 2; ++i) {
    search.Get(target);
    search.RunFor(milliseconds(100));
  }
  const json again = Body(search.Get(target));
  EXPECT_EQ(again["coverage"]["cache"]["hit"], true);
  EXPECT_EQ(again["did_you_mean"]["query"], "common");
}

TEST(FrontendSuggestTest, ASlowSpellingDelaysNoPageWithResults) {
  SimulatedSearch search(9);
  const TimedResponse response = search.Get("/search?q=rare+slow&format=json");
  EXPECT_GT(Body(response)["results"].size(), 0u);
  EXPECT_LT(response.took, milliseconds(40));
  EXPECT_EQ(search.Metric("search_spellings_total", {{"outcome", "late"}}), 1);
}

TEST(FrontendSuggestTest, APageWithoutResultsWaitsAtMostTheTimeout) {
  SimulatedSearch search(10, "parameters { key: 'spelling_timeout_ms' value: '80' } ");
  const TimedResponse response = search.Get("/search?q=slow&format=json");
  EXPECT_EQ(Body(response)["total"], 0);
  EXPECT_GT(response.took, milliseconds(80));
  EXPECT_LT(response.took, milliseconds(120));
  search.RunFor(seconds(2));
}

TEST(FrontendSuggestTest, ConcurrentCompletionsAreLimited) {
  SimulatedSearch search(11, "parameters { key: 'suggest_count_max' value: '1' } ");
  search.simulator().Pause("tier1-0");
  const auto first = search.Begin("/suggest?q=com");
  search.RunFor(milliseconds(30));
  EXPECT_EQ(search.Get("/suggest?q=ra").http.status, 503);
  search.RunFor(seconds(1));
  EXPECT_EQ(first->http.status, 200);
}

}  // namespace
}  // namespace search::frontend
