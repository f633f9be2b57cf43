// Tests completions and other spellings over HTTP in a simulated cluster with fake tiers.

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

json Completions(const TimedResponse& response) {
  EXPECT_EQ(response.http.status, 200) << response.http.body;
  return JsonBody(response);
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
  const json answer = JsonBody(search.Get("/search?q=unoffered&format=json"));
  EXPECT_EQ(answer["total"], 0);
  EXPECT_TRUE(answer["did_you_mean"].is_null());
}

double SpellCalls(SimulatedSearch& search) { return search.CallCount("tier1", "tier1", "Spell"); }

TEST(FrontendSuggestTest, WithoutResultsTheCorrectionIsSearchedAtOnce) {
  SimulatedSearch search(7);
  const json answer = JsonBody(search.Get("/search?q=comon&format=json"));
  EXPECT_EQ(answer["query"], "comon");
  EXPECT_EQ(answer["corrected"]["query"], "common");
  EXPECT_EQ(answer["corrected"]["as_typed"], "/search?q=comon&format=json&spell=0");
  EXPECT_GT(answer["total"], 0);
  EXPECT_EQ(answer["results"].size(), 10u);
  EXPECT_TRUE(answer["did_you_mean"].is_null());
  EXPECT_TRUE(answer["given_up"].empty());
  EXPECT_EQ(answer["results"][0]["snippet"], "common") << "summaries are for the correction";
  EXPECT_EQ(SpellCalls(search), 1) << "one partition knows the words of all";
  const std::string page = search.Get("/search?q=comon&fold=0").http.body;
  EXPECT_NE(page.find("Showing results for"), std::string::npos);
  EXPECT_NE(page.find("/search?q=comon&amp;spell=0"), std::string::npos);
  EXPECT_EQ(search.Metric("search_spellings_total", {{"outcome", "replaced"}}), 1)
      << "the page came from the cache";
}

TEST(FrontendSuggestTest, AHardlyKnownWordThatFindsNothingIsReplacedWithItsResults) {
  SimulatedSearch search(7);
  const json answer = JsonBody(search.Get("/search?q=seldom+bird&format=json"));
  EXPECT_EQ(answer["corrected"]["query"], "common bird");
  EXPECT_GT(answer["total"], 0);
  EXPECT_EQ(answer["results"].size(), 10u);
}

TEST(FrontendSuggestTest, TheQueryAsTypedIsNotCorrected) {
  SimulatedSearch search(8);
  for (int i = 0; i < 2; ++i) {
    const json typed = JsonBody(search.Get("/search?q=comon&spell=0&format=json"));
    EXPECT_EQ(typed["total"], 0);
    EXPECT_TRUE(typed["corrected"].is_null());
    EXPECT_TRUE(typed["did_you_mean"].is_null());
    EXPECT_EQ(SpellCalls(search), 0);
    search.RunFor(milliseconds(100));
  }
  // The cache keeps both apart.
  EXPECT_EQ(JsonBody(search.Get("/search?q=comon&format=json"))["corrected"]["query"], "common");
  search.RunFor(milliseconds(100));
  EXPECT_TRUE(JsonBody(search.Get("/search?q=comon&spell=0&format=json"))["corrected"].is_null());
  EXPECT_EQ(search.Get("/search?q=comon&spell=2").http.status, 400);
}

TEST(FrontendSuggestTest, ACorrectionThatFindsNothingIsNotShown) {
  SimulatedSearch search(9);
  const json answer = JsonBody(search.Get("/search?q=nowhere+comon&format=json"));
  EXPECT_EQ(answer["total"], 0);
  EXPECT_TRUE(answer["corrected"].is_null());
  EXPECT_TRUE(answer["did_you_mean"].is_null());
}

TEST(FrontendSuggestTest, AWordThatNoDocumentHasIsCorrectedAtOnceIfTheCorrectionIsSure) {
  SimulatedSearch search(12);
  const json sure = JsonBody(search.Get("/search?q=rare+comon&format=json"));
  EXPECT_EQ(sure["corrected"]["query"], "rare common");
  const json unsure = JsonBody(search.Get("/search?q=rare+xcomon&format=json"));
  EXPECT_TRUE(unsure["corrected"].is_null());
  EXPECT_EQ(unsure["did_you_mean"]["query"], "rare common");
  EXPECT_EQ(unsure["did_you_mean"]["link"], "/search?q=rare+common&format=json");
  EXPECT_GT(unsure["results"].size(), 0u);
  EXPECT_NE(search.Get("/search?q=rare+xcomon").http.body.find("Did you mean"), std::string::npos);
}

TEST(FrontendSuggestTest, ARareWordGetsAnOfferAndAFrequentOneCostsNothing) {
  SimulatedSearch search(13);
  const json rare = JsonBody(search.Get("/search?q=rare+seldom&format=json"));
  EXPECT_TRUE(rare["corrected"].is_null());
  EXPECT_EQ(rare["did_you_mean"]["query"], "rare common");
  EXPECT_EQ(SpellCalls(search), 1);
  EXPECT_TRUE(JsonBody(search.Get("/search?q=rare+bird&format=json"))["did_you_mean"].is_null());
  EXPECT_TRUE(JsonBody(search.Get("/search?q=nowhere&format=json"))["did_you_mean"].is_null());
  JsonBody(search.Get("/search?q=rare+seldom&start=10&format=json"));
  EXPECT_EQ(SpellCalls(search), 1) << "further pages offer nothing";
}

TEST(FrontendSuggestTest, FurtherPagesOfACorrectedQueryAreCorrected) {
  SimulatedSearch search(14);
  const json first = JsonBody(search.Get("/search?q=comon&format=json"));
  EXPECT_EQ(first["links"]["next"], "/search?q=common&start=10&format=json&spell=0");
  const json second = JsonBody(search.Get("/search?q=comon&start=10&format=json"));
  EXPECT_EQ(second["corrected"]["query"], "common");
  EXPECT_EQ(second["results"], JsonBody(search.Get(first["links"]["next"]))["results"]);
}

TEST(FrontendSuggestTest, CorrectionsComeFromTheCacheToo) {
  SimulatedSearch search(15);
  const char target[] = "/search?q=comon+-java&format=json";
  for (int i = 0; i < 2; ++i) {
    search.Get(target);
    search.RunFor(milliseconds(100));
  }
  const double calls = SpellCalls(search);
  json again = JsonBody(search.Get(target));
  EXPECT_EQ(again["coverage"]["cache"]["hit"], true);
  EXPECT_EQ(again["corrected"]["query"], "common -java");
  EXPECT_EQ(again["narrowed_by"][0]["query_without"], "common");
  EXPECT_EQ(SpellCalls(search), calls);
}

TEST(FrontendSuggestTest, APageWaitsForASpellingAtMostTheTimeout) {
  SimulatedSearch search(10, "parameters { key: 'spelling_timeout_ms' value: '80' } ");
  for (const char* target : {"/search?q=slow&format=json", "/search?q=rare+slow&format=json"}) {
    const TimedResponse response = search.Get(target);
    const json answer = JsonBody(response);
    EXPECT_EQ(answer["notes"].back(), "Another spelling could not be looked for in time.");
    EXPECT_GT(response.took, milliseconds(80));
    EXPECT_LT(response.took, milliseconds(130));
    search.RunFor(seconds(2));
    EXPECT_EQ(JsonBody(search.Get(target))["coverage"]["cache"]["hit"], false);
    search.RunFor(seconds(2));
  }
  EXPECT_EQ(search.Metric("search_spellings_total", {{"outcome", "late"}}), 4);
}

TEST(FrontendSuggestTest, AnotherPartitionSpellsIfOneDoesNotAnswer) {
  for (const char* node : {"tier1-0", "tier1-1"}) {
    SimulatedSearch search(16);
    search.simulator().Pause(node);
    const json answer = JsonBody(search.Get("/search?q=comon&format=json"));
    EXPECT_EQ(answer["partial"], true) << node;
    EXPECT_EQ(answer["corrected"]["query"], "common") << node;
  }
}

TEST(FrontendSuggestTest, SpellingCanBeSwitchedOff) {
  SimulatedSearch search(17, "parameters { key: 'spelling' value: 'false' } ");
  EXPECT_TRUE(JsonBody(search.Get("/search?q=comon&format=json"))["corrected"].is_null());
  EXPECT_EQ(SpellCalls(search), 0);
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
