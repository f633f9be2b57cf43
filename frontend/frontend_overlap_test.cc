// Tests over HTTP in a simulated cluster: searches that begin before the cache has answered.

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

double Overlapped(SimulatedSearch& search, const std::string& outcome) {
  return search.Metric("search_overlapped_searches_total", {{"outcome", outcome}});
}

// Asks questions of two words that the cache does not have, until searches begin at once.
void AskNewQuestions(SimulatedSearch& search) {
  for (int i = 0; i < 40; ++i) (void)search.Get(StrCat("/search?format=json&q=common+word", i));
}

TEST(FrontendOverlapTest, SearchOfWhatTheCacheHardlyEverHasDoesNotWaitForIt) {
  SimulatedSearch search(1);
  const auto took = [&](int i) {
    return search.Get(StrCat("/search?format=json&q=common+more", i)).took;
  };
  (void)took(0);  // connects
  const neptune::Duration waiting = took(1);
  EXPECT_EQ(Overlapped(search, "used"), 0);
  AskNewQuestions(search);
  EXPECT_GT(Overlapped(search, "used"), 0);
  EXPECT_LT(took(2), waiting);
  EXPECT_EQ(Overlapped(search, "wasted"), 0);
}

TEST(FrontendOverlapTest, AnswerOfTheCacheEndsTheSearch) {
  SimulatedSearch search(2);
  const std::string heavy = "/search?format=json&q=common+heavy";
  const neptune::Duration computed = search.Get(heavy).took;
  EXPECT_GT(computed, kHeavyWork);
  AskNewQuestions(search);
  const double used = Overlapped(search, "used");
  const neptune::Duration worked = search.ProcessorTime("tier1-0");
  const TimedResponse cached = search.Get(heavy);
  const json answer = JsonAnswer(cached);
  EXPECT_EQ(answer["coverage"]["cache"]["outcome"], "hit");
  EXPECT_EQ(answer["results"].size(), 10u);
  EXPECT_LT(cached.took, milliseconds(10));
  EXPECT_EQ(Overlapped(search, "used"), used);
  EXPECT_EQ(Overlapped(search, "wasted"), 1);
  search.RunFor(seconds(1));
  EXPECT_LT(search.ProcessorTime("tier1-0") - worked, kHeavyWork / 10) << "it ends there, too";
}

TEST(FrontendOverlapTest, AnswerThatWasComputedMeanwhileIsCached) {
  SimulatedSearch search(3);
  AskNewQuestions(search);
  const double used = Overlapped(search, "used");
  const json first = JsonAnswer(search.Get("/search?format=json&q=common+last"));
  EXPECT_EQ(Overlapped(search, "used"), used + 1);
  EXPECT_EQ(first["coverage"]["cache"]["outcome"], "miss");
  search.RunFor(milliseconds(100));
  const json again = JsonAnswer(search.Get("/search?format=json&q=common+last"));
  EXPECT_EQ(again["coverage"]["cache"]["outcome"], "hit");
  EXPECT_EQ(again["results"], first["results"]);
}

TEST(FrontendOverlapTest, CacheThatHangsDelaysNoSearchThatBeganAtOnce) {
  SimulatedSearch search(4);
  AskNewQuestions(search);
  search.simulator().Pause("cache");
  const TimedResponse response = search.Get("/search?format=json&q=common+alone");
  EXPECT_LT(response.took, milliseconds(10));
  const json answer = JsonAnswer(response);
  EXPECT_EQ(answer["coverage"]["cache"]["outcome"], "failed");
  EXPECT_EQ(answer["partial"], false);
  search.simulator().Resume("cache");
}

TEST(FrontendOverlapTest, NoneBeginsAtOnceIfNothingMayBeWasted) {
  SimulatedSearch search(5, Parameter("overlap_waste_share_max", "0"));
  AskNewQuestions(search);
  EXPECT_EQ(Overlapped(search, "used"), 0);
  EXPECT_EQ(Overlapped(search, "wasted"), 0);
}

TEST(FrontendOverlapTest, ClientThatLeavesEndsBoth) {
  SimulatedSearch search(6);
  AskNewQuestions(search);
  const neptune::Duration worked = search.ProcessorTime("tier1-0");
  search.BeginAndLeave("/search?format=json&q=common+heavy", milliseconds(5));
  search.RunFor(seconds(1));
  EXPECT_LT(search.ProcessorTime("tier1-0") - worked, kHeavyWork / 2);
  EXPECT_EQ(search.Metric("search_answers_total", {{"outcome", "gone"}}), 1);
}

}  // namespace
}  // namespace search::frontend
