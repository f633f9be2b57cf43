// Tests traces of searches over HTTP in a simulated cluster: their spans, and which are kept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "frontend/testing/json_answer.h"
#include "frontend/testing/simulated_search.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::HttpHeaders;
using neptune::StrCat;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const char kCommon[] = "/search?q=common&format=json";
const char kRare[] = "/search?q=rare&format=json";

TEST(FrontendTraceTest, ATraceShowsTheTreeOfEachTier) {
  SimulatedSearch search(8);
  EXPECT_FALSE(JsonAnswer(search.Get("/search?q=rare&format=json")).contains("trace"));
  const json tiers =
      JsonAnswer(search.Get("/search?q=rare+bird&format=json&trace=1"))["trace"]["tiers"];
  ASSERT_EQ(tiers.size(), 2u);
  for (const json& tier : tiers) {
    EXPECT_EQ(tier["tree"], "lat");
    ASSERT_EQ(tier["servers"].size(), 2u);
    EXPECT_EQ(tier["servers"][0]["parent"], nullptr);
    EXPECT_EQ(tier["servers"][0]["reductions"], 1);
    EXPECT_EQ(tier["servers"][1]["parent"], 0);
    EXPECT_EQ(tier["servers"][1]["answered"], true);
  }
  EXPECT_EQ(search.Get("/search?q=rare&trace=2").http.status, 400);
}

TEST(FrontendTraceTest, SpansOfATraceSumToTheWhole) {
  SimulatedSearch search(8);
  const json answer = JsonAnswer(search.Get("/search?q=rare+bird&format=json&trace=1"));
  const json trace = answer["trace"];
  double sum = 0;
  for (const auto& [part, ms] : trace["parts"].items()) {
    EXPECT_GE(ms.get<double>(), 0) << part;
    sum += ms.get<double>();
  }
  EXPECT_NEAR(sum, answer["took_ms"].get<double>(), 0.05 * answer["took_ms"].get<double>());
  std::map<std::string, double> children;  // time of a server's parts
  for (const json& span : trace["spans"]) {
    if (span["node"].is_null() || span["part"] == "whole") continue;
    children[span["node"]] += span["duration_ms"].get<double>();
  }
  size_t servers = 0;
  for (const json& tier : trace["tiers"]) {
    for (const json& server : tier["servers"]) {
      ++servers;
      EXPECT_NEAR(children[server["node"]], server["replied_ms"].get<double>(), 1e-3)
          << server["node"];
    }
  }
  EXPECT_EQ(servers, 4u);
}

// Fraction of the time between steps. Computation takes no virtual time, so any time between steps
// would be a wait that no step records.
double OwnWorkShare(const json& answer) {
  const double took = answer["took_ms"].get<double>();
  EXPECT_GT(took, 0);
  double own = 0;
  for (const json& span : answer["trace"]["spans"]) {
    if (span["name"] == "own work") own += span["duration_ms"].get<double>();
  }
  return own / took;
}

std::set<std::string> StepNames(const json& answer) {
  std::set<std::string> names;
  for (const json& span : answer["trace"]["spans"]) {
    if (span["parent"] == 0) names.insert(span["name"].get<std::string>());
  }
  return names;
}

constexpr double kOwnWorkShareMax = 0.05;

TEST(FrontendTraceTest, EveryWaitOfASearchIsAStep) {
  SimulatedSearch search(8);
  std::set<std::string> steps;
  // Both tiers and documents; the same from the cache; no results, with a wait for another
  // spelling.
  for (const char* query : {"rare+bird", "rare+bird", "comon", "slow"}) {
    const json answer = JsonAnswer(search.Get(StrCat("/search?q=", query, "&format=json&trace=1")));
    EXPECT_LE(OwnWorkShare(answer), kOwnWorkShareMax) << query << " " << answer["trace"]["spans"];
    steps.merge(StepNames(answer));
    search.RunFor(milliseconds(100));
  }
  for (const char* step : {"cache", "tier 1", "tier 2", "documents", "spelling"}) {
    EXPECT_EQ(steps.count(step), 1u) << step;
  }
}

TEST(FrontendTraceTest, AWaitForAdmissionIsAStep) {
  SimulatedSearch search(14, Parameter("search_count_max", "2"));
  search.simulator().Pause("tier1-0");
  const auto first = search.Begin(kCommon);
  const auto second = search.Begin(kRare);
  search.RunFor(milliseconds(50));
  const json answer = JsonAnswer(search.Get("/search?q=common+x&format=json&trace=1"));
  EXPECT_LE(OwnWorkShare(answer), kOwnWorkShareMax) << answer["trace"]["spans"];
  EXPECT_EQ(StepNames(answer).count("gate"), 1u);
}

TEST(FrontendTraceTest, NotableSearchesAreKept) {
  SimulatedSearch search(8);
  const HttpHeaders sampled = {
      {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
  const TimedResponse found = search.Get(kRare, sampled);
  EXPECT_THAT(std::string(found.http.headers.Get("traceparent")),
              testing::HasSubstr("0af7651916cd43dd8448eb211c80319c"));
  search.simulator().Crash("tier2-0");
  search.RunFor(seconds(8));
  JsonAnswer(search.Get("/search?q=rare+fish&format=json"));
  const json list = JsonAnswer(search.Get("/tracez?format=json"));
  std::map<std::string, size_t> seen;
  for (const json& kind : list["kinds"]) seen[kind["kind"]] = kind["latest"].size();
  EXPECT_EQ(seen["sampled"], 1u);
  EXPECT_EQ(seen["partial"], 1u);
  const json kept =
      JsonAnswer(search.Get("/tracez?id=0af7651916cd43dd8448eb211c80319c&format=json"));
  EXPECT_EQ(kept["query"], "rare");
  EXPECT_EQ(kept["tiers"].size(), 2u);
  EXPECT_FALSE(kept["explanation"].empty());
  EXPECT_EQ(search.Get("/tracez?id=nobody&format=json").http.status, 404);
}

TEST(FrontendTraceTest, StrangersSeeNoNamesOfServersAndSampleNoMoreThanOthers) {
  SimulatedSearch search(8,
                         Parameter("operator_pages", "loopback") + Parameter("trace_share", "0"));
  const TimedResponse traced =
      search.Get("/search?q=rare+bird&format=json&trace=1",
                 {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}});
  EXPECT_THAT(traced.http.body, testing::Not(testing::HasSubstr("tier1-")));
  EXPECT_THAT(std::string(traced.http.headers.Get("traceparent")),
              testing::AllOf(testing::HasSubstr("0af7651916cd43dd8448eb211c80319c"),
                             testing::EndsWith("-00")));
  const json trace = JsonAnswer(traced)["trace"];
  EXPECT_EQ(trace["tiers"][0]["servers"][0]["node"], "server 1");
  EXPECT_FALSE(trace["spans"].empty());
}

TEST(FrontendTraceTest, PrivateQueriesAreInNoTrace) {
  SimulatedSearch search(8, Parameter("private_logs", "true"));
  JsonAnswer(search.Get(
      kRare, {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}));
  EXPECT_THAT(search.Get("/tracez?format=json").http.body,
              testing::Not(testing::HasSubstr("rare")));
  EXPECT_THAT(search.Get("/tracez").http.body, testing::Not(testing::HasSubstr(">rare<")));
}

}  // namespace
}  // namespace search::frontend
