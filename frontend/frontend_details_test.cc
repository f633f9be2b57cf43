// Tests parts of an answer that are given if asked for: explained scores, and counts by site.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "frontend/testing/fake_services.h"
#include "frontend/testing/json_answer.h"
#include "frontend/testing/simulated_search.h"

namespace search::frontend {
namespace {

using nlohmann::json;
using std::chrono::seconds;

const char kCommon[] = "/search?q=common&format=json";
const char kRare[] = "/search?q=rare&format=json";

TEST(FrontendDetailsTest, ExplainsScoresOnlyIfAsked) {
  SimulatedSearch search(1);
  EXPECT_FALSE(JsonAnswer(search.Get(kRare))["results"][0].contains("explanation"));
  EXPECT_EQ(search.CallCount("tier1", "tier1", "Explain"), 0);
  // Documents of both tiers; the cache is not consulted.
  const json answer = JsonAnswer(search.Get("/search?q=rare&format=json&explain=1"));
  EXPECT_EQ(answer["coverage"]["cache"]["outcome"], "bypassed");
  EXPECT_EQ(search.CallCount("tier1", "tier1", "Explain"), 2);
  EXPECT_EQ(search.CallCount("tier2", "tier2", "Explain"), 2);
  EXPECT_EQ(answer["explanation_note"], "");
  ASSERT_FALSE(answer["results"].empty());
  for (const json& result : answer["results"]) {
    const json& explanation = result["explanation"];
    EXPECT_TRUE(explanation["is_current"]) << result;
    EXPECT_NEAR(explanation["score"], result["score"].get<double>(), 5e-5);
    EXPECT_EQ(explanation["static_rank"]["score"], 1);
  }
}

TEST(FrontendDetailsTest, CountsBySiteOverBothTiersOnlyIfAsked) {
  SimulatedSearch search(1);
  EXPECT_FALSE(JsonAnswer(search.Get(kCommon)).contains("facets"));
  EXPECT_EQ(search.CallCount("tier1", "tier1", "CountSites"), 0);
  const char* const target = "/search?q=common&format=json&facets=site";
  const json answer = JsonAnswer(search.Get(target));
  EXPECT_EQ(search.CallCount("tier2", "tier2", "Search"), 0)
      << "the search itself does without tier 2";
  const json& sites = answer["facets"]["site"];
  EXPECT_EQ(sites["is_exact"], true);
  EXPECT_EQ(sites["total"], 2 * (kCommonHitCount + kTier2HitCount));
  ASSERT_EQ(sites["values"].size(), 2u);
  EXPECT_EQ(sites["values"][0]["value"], "git");
  EXPECT_EQ(sites["values"][0]["count"], 2 * (kCommonHitCount + kTier2HitCount));
  EXPECT_EQ(sites["values"][0]["query"], "common site:git");
  EXPECT_EQ(sites["values"][1]["count"], 2 * kTier2HitCount);

  // Cached with the page, under a name of its own.
  search.RunFor(seconds(1));
  const json again = JsonAnswer(search.Get(target));
  EXPECT_EQ(again["coverage"]["cache"]["hit"], true);
  EXPECT_EQ(again["facets"], answer["facets"]);
  EXPECT_FALSE(JsonAnswer(search.Get(kCommon)).contains("facets"));
}

TEST(FrontendDetailsTest, SaysThatCountsBySiteAreMissing) {
  SimulatedSearch search(1);
  const json answer = JsonAnswer(search.Get("/search?q=common+uncounted&format=json&facets=site"));
  EXPECT_FALSE(answer["results"].empty());
  EXPECT_EQ(answer["facets"]["site"]["is_exact"], false);
  EXPECT_NE(answer["facets"]["site"]["note"].get<std::string>().find("did not answer"),
            std::string::npos);
}

TEST(FrontendDetailsTest, OrdersByDateOverBothTiers) {
  SimulatedSearch search(1);
  const json answer = JsonAnswer(search.Get("/search?q=common&format=json&sort=date"));
  EXPECT_EQ(search.CallCount("tier2", "tier2", "Search"), 2);
  EXPECT_EQ(answer["sorted_by"], "date");
  ASSERT_FALSE(answer["results"].empty());
  // The fake's scores are read as days.
  EXPECT_EQ(answer["results"][0]["date"], "0001-02-19");
  EXPECT_TRUE(answer["results"][0]["score"].is_null());
  EXPECT_EQ(search.Get("/search?q=common&sort=date&explain=1").http.status, 400);
}

}  // namespace
}  // namespace search::frontend
