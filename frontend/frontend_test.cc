// Tests the frontend over HTTP in a simulated cluster: the plan's paths, failures, bad input,
// draining.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "frontend/render/render.h"
#include "frontend/testing/fake_services.h"
#include "frontend/testing/json_answer.h"
#include "frontend/testing/simulated_search.h"
#include "neptune/base/strings.h"
#include "neptune/service/span_log.h"

namespace search::frontend {
namespace {

using neptune::HttpHeaders;
using neptune::StrCat;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const char kCommon[] = "/search?q=common&format=json";
const char kRare[] = "/search?q=rare&format=json";

std::vector<std::string> Ids(const json& answer) {
  std::vector<std::string> ids;
  for (const json& result : answer["results"]) ids.push_back(result["id"]);
  return ids;
}

double TierCalls(SimulatedSearch& search, const std::string& tier) {
  return search.CallCount(tier, tier, "Search");
}

TEST(FrontendTest, RateLimitedClientsGetRetryAfter) {
  SimulatedSearch search(
      1, Parameter("http_rate_per_second", "0.5") + Parameter("http_rate_burst", "2"));
  EXPECT_EQ(search.Get(kCommon).http.status, 200);
  EXPECT_EQ(search.Get("/suggest?q=co").http.status, 200);
  const TimedResponse refused = search.Get(kCommon);
  EXPECT_EQ(refused.http.status, 429);
  EXPECT_EQ(refused.http.headers.Get("Retry-After"), "2");
  EXPECT_TRUE(refused.http.headers.Get("Content-Type").starts_with("application/problem+json"));
  EXPECT_EQ(search.Get("/healthz").http.status, 200);
  EXPECT_EQ(search.Get("/metrics").http.status, 200);
  search.simulator().RunFor(seconds(3));
  EXPECT_EQ(search.Get(kCommon).http.status, 200);
}

TEST(FrontendTest, OperatorPagesAreLimitedToLoopbackByDefault) {
  SimulatedSearch search(1, "parameters { key: 'operator_pages' value: 'loopback' } ");
  for (const char* page : {"/console", "/console?format=json", "/tracez", "/tracez?id=x",
                           "/statusz", "/statusz?format=json"}) {
    EXPECT_EQ(search.Get(page).http.status, 403) << page;
  }
  EXPECT_EQ(search.Get("/metrics").http.status, 403);
  for (const char* page : {"/", "/search?q=common", "/readyz", "/healthz"}) {
    EXPECT_EQ(search.Get(page).http.status, 200) << page;
  }
  EXPECT_FALSE(JsonAnswer(search.Get("/readyz")).contains("services"));
  EXPECT_EQ(search.Metric("search_access_refused_total", {{"what", "pages"}}), 7);
}

TEST(FrontendTest, StatusIsForEveryoneIfConfigured) {
  SimulatedSearch search(
      1, Parameter("operator_pages", "loopback") + Parameter("public_status", "true"));
  EXPECT_EQ(search.Get("/metrics").http.status, 200);
  EXPECT_EQ(JsonAnswer(search.Get("/readyz"))["services"].size(), 4u);
  EXPECT_EQ(search.Get("/tracez").http.status, 403);
}

TEST(FrontendTest, PagesOfOtherSitesSeeNoOperatorsPage) {
  SimulatedSearch search(1);
  EXPECT_EQ(search.Get("/tracez").http.status, 200);
  for (const char* site : {"cross-site", "same-site"}) {
    EXPECT_EQ(search.Get("/tracez", {{"Sec-Fetch-Site", site}}).http.status, 403) << site;
    EXPECT_EQ(search.Get("/search?q=common", {{"Sec-Fetch-Site", site}}).http.status, 200) << site;
  }
}

TEST(FrontendTest, ARequiredKeyIsRequiredForEveryAnswerFromTheIndex) {
  SimulatedSearch search(1, Parameter("key_required", "true"));
  for (const char* path : {"/search?q=common&format=json", "/suggest?q=co", "/doc/4?format=json"}) {
    const TimedResponse refused = search.Get(path);
    EXPECT_EQ(refused.http.status, 401) << path;
    EXPECT_NE(refused.http.body.find("X-Api-Key"), std::string::npos) << refused.http.body;
  }
  EXPECT_EQ(search.Get("/").http.status, 200);
}

TEST(FrontendTest, ReloadsOfManyAreAnsweredFromTheCaches) {
  SimulatedSearch search(4, Parameter("operator_pages", "loopback"));
  JsonAnswer(search.Get(kCommon));
  search.RunFor(milliseconds(100));
  int from_cache = 0;
  for (int i = 0; i < 50; ++i) {
    const json answer = JsonAnswer(search.Get(kCommon, {{"Cache-Control", "no-cache"}}));
    from_cache += answer["coverage"]["cache"]["hit"].get<bool>() ? 1 : 0;
  }
  EXPECT_GE(from_cache, 20) << "seed 4";
  EXPECT_LE(from_cache, 30) << "the first ones pass";
  EXPECT_EQ(search.Metric("search_reloads_limited_total", {}), from_cache);
  search.RunFor(seconds(2));
  const json later = JsonAnswer(search.Get(kCommon, {{"Cache-Control", "no-cache"}}));
  EXPECT_FALSE(later["coverage"]["cache"]["hit"].get<bool>()) << "one a second always passes";
}

TEST(FrontendTest, NoPageAllowsInlineScriptsOrStyles) {
  SimulatedSearch search(1);
  for (const char* page : {"/", "/help", "/search?q=common", "/doc/0", "/statusz", "/nothing",
                           "/search?q=common&format=json", "/metrics"}) {
    const TimedResponse response = search.Get(page, {{"Accept", "text/html"}});
    const std::string_view policy = response.http.headers.Get("Content-Security-Policy");
    EXPECT_NE(policy.find("default-src 'none'"), std::string_view::npos) << page;
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string_view::npos) << page;
    EXPECT_EQ(policy.find("unsafe-"), std::string_view::npos) << page << ": " << policy;
    EXPECT_EQ(response.http.headers.Get("X-Content-Type-Options"), "nosniff") << page;
    EXPECT_EQ(response.http.headers.Get("Referrer-Policy"), "same-origin") << page;
    EXPECT_EQ(response.http.headers.Get("Cross-Origin-Resource-Policy"), "same-origin") << page;
    EXPECT_FALSE(response.http.headers.Has("Strict-Transport-Security")) << page << ", over HTTP";
  }
}

TEST(FrontendTest, PagesOfOneQueryShareNoResult) {
  SimulatedSearch search(3);
  std::set<std::string> seen;
  for (int start : {0, 10, 20}) {
    const json answer =
        JsonAnswer(search.Get(StrCat("/search?q=common&format=json&start=", start)));
    for (const std::string& id : Ids(answer)) EXPECT_TRUE(seen.insert(id).second) << id;
  }
  EXPECT_EQ(seen.size(), 2u * (kCommonHitCount + kTier2HitCount));
  EXPECT_EQ(search.Metric("search_tier2_decisions_total", {{"need", "none"}}), 1);
  EXPECT_EQ(search.Metric("search_tier2_decisions_total", {{"need", "may_enter_page"}}), 2);
}

TEST(FrontendTest, TheSameQueryComesFromTheCache) {
  SimulatedSearch search(4);
  const json first = JsonAnswer(search.Get(kCommon));
  search.RunFor(milliseconds(100));
  EXPECT_EQ(search.Metric("search_cache_inserts_total", {{"outcome", "stored"}}), 1);
  // The entry is found once the frontend knows the index version, i.e. from now on.
  const json again = JsonAnswer(search.Get("/search?q=%20COMMON&format=json"));
  EXPECT_EQ(again["coverage"]["cache"]["hit"], true);
  EXPECT_EQ(again["coverage"]["cache"]["age_ms"], 1234);
  EXPECT_EQ(again["query"], " COMMON");
  EXPECT_EQ(again["results"], first["results"]);
  EXPECT_EQ(again["total"], first["total"]);
  EXPECT_EQ(again["coverage"]["tiers"], first["coverage"]["tiers"]);
  EXPECT_EQ(TierCalls(search, "tier1"), 2);
  EXPECT_EQ(search.Metric("search_cache_lookups_total", {{"outcome", "hit"}}), 1);
}

constexpr char kSecondCache[] = "nodes { name: 'cache-2' hosts { service: 'cache' } } ";

TEST(FrontendTest, AnswersAreInsertedIntoEveryCacheReplica) {
  SimulatedSearch search(4, "", kSecondCache);
  JsonAnswer(search.Get(kCommon));
  search.RunFor(milliseconds(100));
  EXPECT_EQ(search.CallCount("cache", "cache", "Insert"), 2);
  for (const char* node : {"cache", "cache-2"}) {
    search.simulator().Pause(node);
    EXPECT_EQ(JsonAnswer(search.Get(kCommon))["coverage"]["cache"]["hit"], true) << node;
    search.simulator().Resume(node);
    search.RunFor(seconds(5));
  }
  EXPECT_EQ(TierCalls(search, "tier1"), 2);
}

TEST(FrontendTest, LookupsRefillAnEmptyCacheReplica) {
  SimulatedSearch search(5, "", kSecondCache);
  JsonAnswer(search.Get(kCommon));
  search.RunFor(milliseconds(100));
  search.simulator().Crash("cache-2");
  search.simulator().Restart("cache-2");
  search.RunFor(seconds(3));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(JsonAnswer(search.Get(kCommon))["coverage"]["cache"]["hit"], true) << i;
    search.RunFor(milliseconds(100));
  }
  EXPECT_EQ(search.CallCount("cache-2", "cache", "Insert"), 1);
  EXPECT_EQ(TierCalls(search, "tier1"), 2);
}

TEST(FrontendTest, ASampledTraceReachesEveryTier) {
  SimulatedSearch search(4);
  JsonAnswer(search.Get(
      kCommon, {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}));
  std::vector<neptune::Span> spans = search.node("web").spans().Snapshot();
  ASSERT_FALSE(spans.empty());
  EXPECT_EQ(spans[0].parent, 0xb7ad6b7169203331u) << "the user's";
  for (const neptune::Span& span : spans) {
    EXPECT_EQ(span.context.trace_high, 0x0af7651916cd43ddu);
    EXPECT_EQ(span.context.trace_low, 0x8448eb211c80319cu);
  }
}

TEST(FrontendTest, AForcedReloadBypassesTheCache) {
  SimulatedSearch search(5);
  JsonAnswer(search.Get(kCommon));
  search.RunFor(milliseconds(100));
  const json answer = JsonAnswer(search.Get(kCommon, {{"Cache-Control", "no-cache"}}));
  EXPECT_EQ(answer["coverage"]["cache"]["outcome"], "bypassed");
  EXPECT_EQ(TierCalls(search, "tier1"), 4);
}

TEST(FrontendTest, AHungCacheIsBypassed) {
  SimulatedSearch search(6);
  search.simulator().Pause("cache");
  for (int i = 0; i < 3; ++i) {
    const TimedResponse response = search.Get(kCommon);
    const json answer = JsonAnswer(response);
    EXPECT_EQ(answer["coverage"]["cache"]["outcome"], "failed") << i;
    EXPECT_EQ(answer["partial"], false);
    EXPECT_LT(response.took, milliseconds(40));
  }
  const TimedResponse without = search.Get(kCommon);
  EXPECT_EQ(JsonAnswer(without)["coverage"]["cache"]["outcome"], "bypassed");
  EXPECT_LT(without.took, milliseconds(15));
  search.simulator().Resume("cache");
  search.RunFor(seconds(5));
  JsonAnswer(search.Get(kCommon));
  search.RunFor(milliseconds(100));
  EXPECT_EQ(JsonAnswer(search.Get(kCommon))["coverage"]["cache"]["hit"], true);
}

TEST(FrontendTest, SearchesSucceedWithADeadCache) {
  SimulatedSearch search(7);
  search.simulator().Crash("cache");
  for (int i = 0; i < 20; ++i) {
    const TimedResponse response = search.Get(kCommon);
    EXPECT_EQ(JsonAnswer(response)["results"].size(), 10u);
    EXPECT_LT(response.took, milliseconds(40));
    search.RunFor(seconds(1));
  }
}

TEST(FrontendTest, AHungPartitionMakesAPartialAnswerInTime) {
  SimulatedSearch search(8);
  search.simulator().Pause("tier1-1");
  const TimedResponse response = search.Get("/search?q=common&format=json&count=5");
  const json answer = JsonAnswer(response);
  EXPECT_EQ(answer["partial"], true);
  const json tier1 = answer["coverage"]["tiers"][0];
  EXPECT_EQ(tier1["partitions_asked"], 2);
  EXPECT_EQ(tier1["partitions_answered"], 1);
  EXPECT_EQ(tier1["missing"][0]["partition"], 1);
  EXPECT_EQ(tier1["missing"][0]["reason"], "deadline exceeded");
  EXPECT_EQ(tier1["ended_early"], json::array());
  EXPECT_EQ(answer["total_is_exact"], false);
  EXPECT_GE(response.took, milliseconds(500));
  EXPECT_LT(response.took, milliseconds(600));
  // A partial answer is not cached.
  search.simulator().Resume("tier1-1");
  search.RunFor(seconds(1));
  EXPECT_EQ(JsonAnswer(search.Get("/search?q=common&format=json&count=5"))["partial"], false);
}

TEST(FrontendTest, PartitionsEndedEarlyAreReported) {
  SimulatedSearch search(8);
  const TimedResponse response = search.Get("/search?q=common+endless&format=json&count=5");
  const json answer = JsonAnswer(response);
  EXPECT_EQ(answer["partial"], true);
  EXPECT_EQ(answer["total_is_exact"], false);
  const json tier1 = answer["coverage"]["tiers"][0];
  EXPECT_EQ(tier1["partitions_answered"], 2);
  EXPECT_EQ(tier1["missing"], json::array());
  EXPECT_EQ(tier1["evaluated_completely"], false);
  EXPECT_EQ(tier1["ended_early"], (json{1}));
  EXPECT_GE(response.took, kFakeTimeLimit);
  EXPECT_LT(response.took, milliseconds(200)) << "long before the deadline";
  const std::string page = search.Get("/search?q=common+endless&count=5").http.body;
  EXPECT_NE(page.find("This answer is incomplete."), std::string::npos);
  EXPECT_NE(page.find("Tier 1, partition 1, cut this search short"), std::string::npos) << page;
}

TEST(FrontendTest, APartitionEndedEarlyWithoutResultIsMissing) {
  SimulatedSearch search(8);
  const json tier1 = JsonAnswer(
      search.Get("/search?q=common+fruitless&format=json&count=5"))["coverage"]["tiers"][0];
  EXPECT_EQ(tier1["partitions_answered"], 1);
  EXPECT_EQ(tier1["missing"][0]["partition"], 1);
  EXPECT_EQ(tier1["missing"][0]["reason"], "ended early");
  EXPECT_EQ(tier1["ended_early"], (json{1}));
}

TEST(FrontendTest, ABypassedPartitionIsNamedAndCostsNoTime) {
  SimulatedSearch search(8, "",
                         "capsules { name: 'hung' match: 'service:tier1/1' timeout_ms: 100 "
                         "failure_count_max: 2 probe_interval_ms: 60000 }");
  search.simulator().Pause("tier1-1");
  for (int i = 0; i < 6; ++i) EXPECT_EQ(JsonAnswer(search.Get(kCommon))["partial"], true);
  const TimedResponse response = search.Get(kCommon);
  const json answer = JsonAnswer(response);
  const json tier1 = answer["coverage"]["tiers"][0];
  EXPECT_EQ(tier1["partitions_answered"], 1);
  EXPECT_EQ(tier1["missing"][0]["partition"], 1);
  EXPECT_EQ(tier1["missing"][0]["reason"], "bypassed");
  EXPECT_EQ(answer["partial"], true);
  EXPECT_LT(response.took, milliseconds(30));
}

TEST(FrontendTest, AHungReplicaOfDocumentsCostsNoSummaries) {
  SimulatedSearch search(9, "",
                         "nodes { name: 'docs-1b' hosts { service: 'docs' partitions: 1 } }");
  const HttpHeaders fresh = {{"Cache-Control", "no-cache"}};
  for (int i = 0; i < 40; ++i) JsonAnswer(search.Get(kCommon, fresh));  // learns usual times
  search.simulator().Pause("docs-1b");
  for (int i = 0; i < 20; ++i) {
    const TimedResponse response = search.Get(kCommon, fresh);
    const json answer = JsonAnswer(response);
    for (const json& result : answer["results"]) EXPECT_EQ(result["has_summary"], true);
    EXPECT_LT(response.took, milliseconds(40)) << i;
  }
  const neptune::MetricLabels fetch = {{"service", "docs"}, {"method", "Fetch"}};
  EXPECT_GT(search.Metric("neptune_call_hedges_total", fetch), 0);
}

TEST(FrontendTest, ConsoleShowsTheStatusOfEveryNode) {
  SimulatedSearch search(8);
  JsonAnswer(search.Get(kRare));
  search.Get("/console?format=json");  // starts the first round
  search.RunFor(milliseconds(500));
  const json console = JsonAnswer(search.Get("/console?format=json"));
  std::map<std::string, size_t> partitions;
  for (const json& service : console["services"]) {
    partitions[service["service"]] = service["partitions"].size();
  }
  EXPECT_EQ(partitions["tier1"], 2u);
  EXPECT_EQ(partitions["docs"], 2u);
  std::set<std::string> with_capsules;
  for (const json& node : console["nodes"]) EXPECT_EQ(node["no_status"], nullptr) << node;
  for (const json& table : console["tables"]) {
    if (table["section"] != "capsules") continue;
    for (const json& row : table["rows"]) with_capsules.insert(row[0]);
  }
  EXPECT_EQ(with_capsules.size(), console["nodes"].size());
  EXPECT_EQ(console["searches"].size(), 1u);
}

TEST(FrontendTest, ConsoleDoesNotWaitForANodeThatHangs) {
  SimulatedSearch search(8);
  search.Get("/console?format=json");
  search.RunFor(seconds(1));
  search.simulator().Pause("tier2-0");
  search.RunFor(milliseconds(200));
  EXPECT_LT(search.Get("/console").took, milliseconds(50));
  search.RunFor(milliseconds(500));
  const json console = JsonAnswer(search.Get("/console?format=json"));
  size_t silent = 0;
  for (const json& node : console["nodes"]) silent += node["no_status"].is_null() ? 0 : 1;
  EXPECT_EQ(silent, 1u);
  search.simulator().Resume("tier2-0");
  EXPECT_EQ(search.Get("/console?refresh=soon").http.status, 400);
}

TEST(FrontendTest, EverySearchIsALineOfTheAccessLog) {
  const std::string path = testing::TempDir() + "/access.jsonl";
  std::filesystem::remove(path);
  SimulatedSearch search(8, Parameter("access_log", path));
  const json answer = JsonAnswer(search.Get(kRare));
  EXPECT_EQ(search.Get("/search?q=%22open&format=json").http.status, 200);
  search.Get("/healthz");
  search.RunFor(seconds(2));
  std::ifstream file(path);
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["query"], "rare");
  EXPECT_EQ(lines[0]["status"], 200);
  EXPECT_EQ(lines[0]["results"], answer["results"].size());
  EXPECT_EQ(lines[0]["took_ms"], answer["took_ms"]);
}

TEST(FrontendTest, ADeadPartitionIsNamed) {
  SimulatedSearch search(9);
  search.simulator().Crash("tier2-0");
  search.RunFor(seconds(8));
  const json answer = JsonAnswer(search.Get(kRare));
  EXPECT_EQ(answer["coverage"]["tiers"][0]["missing"].size(), 0u);
  const json missing = answer["coverage"]["tiers"][1]["missing"];
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0]["partition"], 0);
  EXPECT_EQ(missing[0]["reason"], "no live replica");
  EXPECT_EQ(answer["coverage"]["quality"], 0.75);
  EXPECT_EQ(answer["results"].size(), 2u + kTier2HitCount);
}

TEST(FrontendTest, ALostDocumentPartitionCostsSummariesOnly) {
  SimulatedSearch search(11);
  search.simulator().Crash("docs-1");
  search.RunFor(seconds(8));
  const json answer = JsonAnswer(search.Get(kCommon));
  ASSERT_EQ(answer["results"].size(), 10u);
  EXPECT_EQ(answer["partial"], true);
  for (const json& result : answer["results"]) {
    const bool is_there = std::stoi(result["id"].get<std::string>()) % 2 == 0;
    EXPECT_EQ(result["has_summary"], is_there) << result;
    EXPECT_EQ(result["title"].get<std::string>().empty(), !is_there) << result;
  }
  EXPECT_EQ(answer["coverage"]["documents"]["missing"][0]["partition"], 1);
  EXPECT_EQ(search.Get("/doc/3").http.status, 503);
  EXPECT_EQ(search.Get("/doc/4").http.status, 200);
}

TEST(FrontendTest, WithoutAnyTierTheSearchIsAnError) {
  SimulatedSearch search(12);
  for (const char* host : {"tier1-0", "tier1-1", "tier2-0", "tier2-1"}) {
    search.simulator().Crash(host);
  }
  for (int i = 0; i < 10; ++i) {
    const TimedResponse response = search.Get(kCommon);
    EXPECT_EQ(response.http.status, 503);
    EXPECT_EQ(response.http.headers.Get("Retry-After"), "1");
    EXPECT_EQ(response.http.headers.Get("Content-Type"), "application/problem+json");
    EXPECT_EQ(JsonBody(response)["status"], 503);
    EXPECT_LT(response.took, milliseconds(1100));
    search.RunFor(seconds(1));
  }
  EXPECT_EQ(search.Get("/search?q=common").http.status, 503);
  EXPECT_EQ(search.Get("/readyz").http.status, 503);
  EXPECT_EQ(search.Get("/healthz").http.status, 200);
}

TEST(FrontendTest, OverloadIsRefusedWithRetryAfter) {
  SimulatedSearch search(13);
  const TimedResponse response = search.Get("/search?q=overload&format=json");
  EXPECT_EQ(response.http.status, 503);
  EXPECT_EQ(response.http.headers.Get("Retry-After"), "1");
  EXPECT_EQ(JsonBody(response)["title"], "Too many requests at once");
  EXPECT_EQ(
      search.Metric("search_http_requests_total", {{"format", "json"}, {"outcome", "overloaded"}}),
      1);
}

TEST(FrontendTest, AQueryThatTheTierRejectsIsABadRequest) {
  SimulatedSearch search(15);
  const TimedResponse response = search.Get("/search?q=forbid&format=json");
  EXPECT_EQ(response.http.status, 400);
  EXPECT_NE(response.http.body.find("rejection requested by the query"), std::string::npos)
      << response.http.body;
}

TEST(FrontendTest, ConcurrentSearchesAreLimited) {
  SimulatedSearch search(
      14, StrCat(Parameter("search_count_max", "2"), Parameter("admission_timeout_ms", "100")));
  search.simulator().Pause("tier1-0");
  const auto first = search.Begin(kCommon);
  const auto second = search.Begin(kRare);
  search.RunFor(milliseconds(50));
  const TimedResponse third = search.Get("/search?q=common+rare&format=json");
  EXPECT_EQ(third.http.status, 503) << "not admitted in time";
  EXPECT_NE(third.http.headers.Get("Retry-After"), "");
  search.RunFor(seconds(2));
  EXPECT_EQ(first->http.status, 200);
  EXPECT_EQ(second->http.status, 200);
  EXPECT_EQ(search.Get(kCommon).http.status, 200);
}

TEST(FrontendTest, InvalidParametersAreNamed) {
  SimulatedSearch search(15);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"q=", "q"},
      {"q=a%ZZ", "q"},
      {"q=%FF", "q"},
      {StrCat("q=", std::string(5000, 'a')), "q"},
      {"q=a&q=b", "q"},
      {"q=a&start=-1", "start"},
      {"q=a&start=1000", "start"},
      {"q=a&start=99999999999", "start"},
      {"q=a&count=0", "count"},
      {"q=a&count=101", "count"},
      {"q=a&count=ten", "count"},
  };
  for (const auto& [parameters, name] : cases) {
    const TimedResponse response = search.Get(StrCat("/search?format=json&", parameters));
    EXPECT_EQ(response.http.status, 400) << parameters;
    if (!response.http.body.starts_with("{")) continue;
    EXPECT_TRUE(response.http.headers.Get("Content-Type").starts_with("application/problem+json"));
    // A target that cannot be decoded is rejected before routing.
    const json problem = JsonBody(response);
    if (problem.contains("parameter")) {
      EXPECT_EQ(problem["parameter"], name) << parameters;
    } else {
      EXPECT_NE(parameters.find("%ZZ"), std::string::npos) << problem;
    }
  }
  const TimedResponse format =
      search.Get("/search?q=a&format=pdf", {{"Accept", "application/json"}});
  EXPECT_EQ(format.http.status, 400);
  EXPECT_EQ(JsonBody(format)["parameter"], "format");
  EXPECT_EQ(search.Get(kCommon, {{"Neptune-Service-Class", "a b"}}).http.status, 400);
  EXPECT_EQ(search.Get(kCommon, {{"Neptune-Service-Class", "batch"}}).http.status, 200);
}

TEST(FrontendTest, AQueryWithoutWordsFindsNothing) {
  SimulatedSearch search(16);
  const json answer = JsonAnswer(search.Get("/search?q=%3F%3F&format=json"));
  EXPECT_EQ(answer["total"], 0);
  EXPECT_EQ(answer["total_is_exact"], true);
  EXPECT_EQ(TierCalls(search, "tier1"), 0);
}

TEST(FrontendTest, AnUnknownSiteIsAnsweredWithThoseThatExist) {
  SimulatedSearch search(19);
  for (int i = 0; i < 2; ++i) {  // the second time from the cache
    const json answer = JsonAnswer(search.Get("/search?q=elsewhere+site%3Anosuchsite&format=json"));
    EXPECT_EQ(answer["notes"], json::array({"There is no site nosuchsite. The sites are: git."}));
  }
}

TEST(FrontendTest, WhatNarrowsTheResultsIsNamed) {
  SimulatedSearch search(1);
  const std::string query = "/search?q=common+-word+site%3As&format=json";
  for (int i = 0; i < 2; ++i) {  // the second time from the cache
    const json answer = JsonAnswer(search.Get(query));
    ASSERT_EQ(answer["narrowed_by"].size(), 2u) << answer;
    EXPECT_EQ(answer["narrowed_by"][0]["kind"], "exclusion");
    EXPECT_EQ(answer["narrowed_by"][0]["text"], "word");
    EXPECT_EQ(answer["narrowed_by"][0]["query_without"], "common site:s");
    EXPECT_EQ(answer["narrowed_by"][1]["kind"], "site");
  }
  const json option = JsonAnswer(search.Get("/search?q=common+-m&format=json"));
  EXPECT_TRUE(option["narrowed_by"].empty());
}

TEST(FrontendTest, EveryFormatIsServed) {
  SimulatedSearch search(17);
  const auto type = [&](const std::string& target, const HttpHeaders& headers = {}) {
    const TimedResponse response = search.Get(target, headers);
    EXPECT_EQ(response.http.status, 200) << target;
    EXPECT_NE(response.http.headers.Get("Content-Security-Policy"), "") << target;
    EXPECT_EQ(response.http.headers.Get("X-Content-Type-Options"), "nosniff") << target;
    return std::string(response.http.headers.Get("Content-Type"));
  };
  EXPECT_TRUE(type("/search?q=common").starts_with("text/html"));
  EXPECT_TRUE(type("/search?q=common&format=json").starts_with("application/json"));
  EXPECT_TRUE(type("/search?q=common&format=rss").starts_with("application/rss+xml"));
  EXPECT_TRUE(type("/search?q=common", {{"Accept", "application/atom+xml"}})
                  .starts_with("application/atom+xml"));
  EXPECT_TRUE(type("/search").starts_with("text/html"));
}

TEST(FrontendTest, EveryRouteIsServed) {
  SimulatedSearch search(18);
  for (const char* path : {"/", "/help", "/opensearch.xml", "/robots.txt", "/favicon.ico",
                           "/healthz", "/readyz", "/readyz?complete=1", "/doc/4?q=common"}) {
    EXPECT_EQ(search.Get(path).http.status, 200) << path;
  }
  for (const StaticFile& file : StaticFiles()) {
    const TimedResponse response = search.Get(std::string(file.path));
    EXPECT_EQ(response.http.body, file.body);
    EXPECT_NE(response.http.headers.Get("Cache-Control").find("immutable"), std::string::npos);
  }
  const std::string metrics = search.Get("/metrics").http.body;
  EXPECT_NE(metrics.find("search_http_requests_total{"), std::string::npos);
  EXPECT_NE(search.Get("/opensearch.xml").http.body.find("http://search.test/search"),
            std::string::npos);
  EXPECT_NE(search.Get("/doc/4").http.body.find("Text of document 4"), std::string::npos);
  EXPECT_NE(search.Get("/statusz").http.body.find("yellow page"), std::string::npos);
  EXPECT_TRUE(JsonBody(search.Get("/statusz?format=json")).contains("sections"));
}

TEST(FrontendTest, TheStatusPageHasOutcomesByClass) {
  SimulatedSearch search(1, "", R"(
      service_classes { name: 'gold' api_keys: 'gold-key-of-a-test' } service_classes { name: 'rest' })");
  search.Get(kCommon, {{"X-Api-Key", "gold-key-of-a-test"}});
  search.Get(kCommon);
  search.Get(kCommon);
  std::map<std::string, int> answered;
  const json status = JsonBody(search.Get("/statusz?format=json"));
  for (const json& section : status["sections"]) {
    if (section["name"] != "searches at frontend") continue;
    for (const json& row : section["tables"][0]["rows"]) answered[row[0]] = row[2];
  }
  EXPECT_EQ(answered, (std::map<std::string, int>{{"gold", 1}, {"rest", 2}}));
}

TEST(FrontendTest, NotFoundIsRenderedInTheClientsFormat) {
  SimulatedSearch search(19);
  for (const char* path : {"/nothing", "/doc/123456", "/doc/x", "/doc/", "/doc/1x"}) {
    EXPECT_EQ(search.Get(path).http.status, 404) << path;
    const TimedResponse page = search.Get(path, {{"Accept", "text/html"}});
    EXPECT_EQ(page.http.status, 404) << path;
    EXPECT_TRUE(page.http.headers.Get("Content-Type").starts_with("text/html")) << path;
  }
  const TimedResponse post = search.Get("/search", {}, "POST");
  EXPECT_EQ(post.http.status, 405);
  EXPECT_NE(post.http.headers.Get("Allow").find("GET"), std::string_view::npos);
}

TEST(FrontendTest, AStoppingNodeFinishesRequestsInProgress) {
  SimulatedSearch search(20);
  search.simulator().Pause("tier1-0");
  const auto response = search.Begin("/search?q=common&format=json&count=5");
  search.RunFor(milliseconds(100));
  bool stopped = false;
  search.node("web").Stop(seconds(5), [&] { stopped = true; });
  search.RunFor(seconds(2));
  EXPECT_EQ(response->http.status, 200) << response->http.body;
  EXPECT_TRUE(stopped);
}

TEST(FrontendTest, TheSameSeedGivesTheSameRun) {
  const auto run = [](uint64_t seed) {
    SimulatedSearch search(seed);
    search.Get(kCommon);
    search.simulator().Crash("tier1-1");
    search.Get(kRare);
    return search.simulator().trace_hash();
  };
  EXPECT_EQ(run(21), run(21));
}

}  // namespace
}  // namespace search::frontend
