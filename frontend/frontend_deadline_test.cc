// Tests that a search has one deadline from its HTTP request on, and that nothing works for a
// client that has left.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "frontend/testing/fake_services.h"
#include "frontend/testing/json_answer.h"
#include "frontend/testing/simulated_search.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::Duration;
using neptune::StrCat;
using nlohmann::json;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::vector<std::string> kServers = {"tier1-0", "tier1-1", "tier2-0", "tier2-1",
                                           "docs-0",  "docs-1",  "cache"};
// From the user to the frontend, from there to the root of a tree, and to a leaf; jitter included.
constexpr Duration kNoticing = milliseconds(1);

std::map<std::string, Duration> WorkOf(SimulatedSearch& search) {
  std::map<std::string, Duration> work;
  for (const std::string& server : kServers) work[server] = search.ProcessorTime(server);
  return work;
}

Duration Sum(const std::map<std::string, Duration>& work) {
  Duration sum{0};
  for (const auto& [server, used] : work) sum += used;
  return sum;
}

double Gone(SimulatedSearch& search) {
  return search.Metric("search_answers_total", {{"outcome", "gone"}});
}

TEST(FrontendDeadlineTest, TheTimeoutCutsWhatIsLateAndTheAnswerSaysSo) {
  SimulatedSearch search(1);
  search.simulator().Pause("tier1-1");
  const TimedResponse slow = search.Get("/search?q=common&format=json");
  EXPECT_GE(slow.took, milliseconds(500));  // tier_timeout
  const TimedResponse response = search.Get("/search?q=common&format=json&timeout=100");
  EXPECT_LE(response.took, milliseconds(100));
  const json answer = JsonAnswer(response);
  const json missing = answer["coverage"]["tiers"][0]["missing"];
  ASSERT_EQ(missing.size(), 1u) << answer;
  EXPECT_EQ(missing[0]["partition"], 1);
  EXPECT_EQ(missing[0]["reason"], "deadline exceeded");
  EXPECT_GT(answer["results"].size(), 0u);
  EXPECT_EQ(search.Metric("search_answers_total", {{"outcome", "partial"}}), 2);
}

// Every step is late here: without a common deadline each would take its own time limit.
TEST(FrontendDeadlineTest, NoStepStartsAfresh) {
  for (const int timeout_ms : {60, 150, 400}) {
    SimulatedSearch search(2);
    JsonAnswer(search.Get("/search?q=common&format=json"));  // the cache is asked from now on
    for (const char* server : {"cache", "tier1-1", "tier2-0", "docs-0"}) {
      search.simulator().Pause(server);
    }
    const std::string target = "/search?q=rare+slow&format=json&facets=site&explain=1";
    EXPECT_GE(search.Get(target).took, milliseconds(1000));
    const TimedResponse response = search.Get(StrCat(target, "&timeout=", timeout_ms));
    EXPECT_LE(response.took, milliseconds(timeout_ms)) << timeout_ms;
    EXPECT_EQ(response.http.status, 200) << timeout_ms;
  }
}

TEST(FrontendDeadlineTest, TheFrontendBoundsWhatClientsAskFor) {
  SimulatedSearch search(3, Parameter("search_timeout_ms", "150"));
  search.simulator().Pause("tier1-1");
  EXPECT_LE(search.Get("/search?q=common&format=json&timeout=10s").took, milliseconds(150));
  EXPECT_LE(search.Get("/search?q=common&format=json").took, milliseconds(150));
  EXPECT_LE(search.Get("/search?q=common&format=json&timeout=50").took, milliseconds(50));
}

TEST(FrontendDeadlineTest, WhatIsNoTimeoutIsRefusedByName) {
  SimulatedSearch search(4);
  const TimedResponse response = search.Get("/search?q=common&format=json&timeout=soon");
  EXPECT_EQ(response.http.status, 400);
  EXPECT_EQ(JsonBody(response)["parameter"], "timeout");
}

TEST(FrontendDeadlineTest, LinksToOtherPagesKeepTheTimeout) {
  SimulatedSearch search(5);
  const json answer = JsonAnswer(search.Get("/search?q=common&format=json&timeout=2s"));
  EXPECT_THAT(answer.dump(), testing::HasSubstr("timeout=2000"));
}

TEST(FrontendDeadlineTest, AnAnswerThatTheTimeoutCutIsNotCached) {
  SimulatedSearch search(6);
  search.simulator().Pause("docs-1");
  JsonAnswer(search.Get("/search?q=common&format=json&timeout=80"));
  search.simulator().Resume("docs-1");
  search.RunFor(seconds(5));
  EXPECT_EQ(search.Metric("search_cache_inserts_total", {{"outcome", "stored"}}), 0);
  const json answer = JsonAnswer(search.Get("/search?q=common&format=json"));
  EXPECT_EQ(answer["coverage"]["documents"]["missing"].size(), 0u);
}

// A heavy question keeps every partition busy for 80 ms, in stretches of 0.1 ms between the places
// where it looks whether to stop.
TEST(FrontendDeadlineTest, AnAbandonedEvaluationStopsOnEveryServer) {
  for (const int after_ms : {10, 40}) {
    SimulatedSearch search(7);
    search.BeginAndLeave("/search?q=heavy+rare&format=json", milliseconds(after_ms));
    search.RunFor(milliseconds(after_ms));
    const auto before = WorkOf(search);
    search.RunFor(seconds(2));
    const auto after = WorkOf(search);
    EXPECT_GT(Sum(before), milliseconds(after_ms)) << "seed 7: both partitions were at work";
    for (const std::string& server : kServers) {
      EXPECT_LE(after.at(server) - before.at(server), kNoticing)
          << "seed 7, left after " << after_ms << " ms: " << server;
    }
    EXPECT_EQ(search.CallCount("docs", "docs", "Fetch"), 0) << after_ms;
    EXPECT_EQ(Gone(search), 1) << after_ms;
    EXPECT_EQ(search.Metric("search_gate_under_way", {}), 0) << after_ms;
    EXPECT_EQ(search.Metric("search_cache_inserts_total", {{"outcome", "stored"}}), 0) << after_ms;
  }
}

// The same search with a client that waits: what the test above would see without cancellation.
TEST(FrontendDeadlineTest, AnEvaluationThatIsWaitedForRunsToItsEnd) {
  SimulatedSearch search(7);
  const auto before = WorkOf(search);
  JsonAnswer(search.Get("/search?q=heavy+rare&format=json"));
  const auto after = WorkOf(search);
  EXPECT_GE(Sum(after) - Sum(before), 2 * kHeavyWork);
  EXPECT_EQ(Gone(search), 0);
}

TEST(FrontendDeadlineTest, SummariesOfAnAbandonedSearchAreNotMade) {
  SimulatedSearch search(8);
  search.BeginAndLeave("/search?q=verbose+common&format=json", milliseconds(15));
  search.RunFor(milliseconds(15));
  const auto before = WorkOf(search);
  EXPECT_GT(Sum(before), milliseconds(5)) << "seed 8: documents were at work";
  search.RunFor(seconds(2));
  const auto after = WorkOf(search);
  for (const std::string& server : kServers) {
    EXPECT_LE(after.at(server) - before.at(server), kNoticing) << "seed 8: " << server;
  }
  EXPECT_EQ(Gone(search), 1);
}

// The client leaves while another spelling is looked for; no second search begins.
TEST(FrontendDeadlineTest, NoSecondSearchBeginsForAClientThatHasLeft) {
  SimulatedSearch search(9);
  search.BeginAndLeave("/search?q=slow+comon&format=json", milliseconds(50));
  search.RunFor(seconds(3));
  EXPECT_EQ(search.CallCount("tier1", "tier1", "Search"), 2);
  EXPECT_EQ(search.CallCount("docs", "docs", "Fetch"), 0);
  EXPECT_EQ(Gone(search), 1);
}

TEST(FrontendDeadlineTest, ClientsThatLeaveDoNotMoveTheLimitOfConcurrentSearches) {
  SimulatedSearch search(10);
  const double limit = search.Metric("search_gate_limit", {});
  for (int i = 0; i < 40; ++i) {
    search.BeginAndLeave(StrCat("/search?q=heavy+rare+x", i, "&format=json"), milliseconds(10));
    if (i % 8 == 7) search.RunFor(milliseconds(100));
  }
  search.RunFor(seconds(1));
  EXPECT_EQ(Gone(search), 40);
  EXPECT_EQ(search.Metric("search_gate_limit", {}), limit);
}

// The client that asked first leaves; those who ask the same get its answer, computed once.
TEST(FrontendDeadlineTest, ASearchGoesOnForOthersWhoWaitForIt) {
  SimulatedSearch search(12);
  const char target[] = "/search?q=heavy+rare&format=json";
  search.BeginAndLeave(target, milliseconds(20));
  search.RunFor(milliseconds(5));
  const auto second = search.Begin(target);
  const auto third = search.Begin(target);
  search.RunFor(seconds(2));
  EXPECT_EQ(JsonAnswer(*second)["partial"], false);
  EXPECT_EQ(JsonAnswer(*third)["partial"], false);
  EXPECT_EQ(search.Metric("search_equal_searches_total", {{"outcome", "joined"}}), 2);
  EXPECT_EQ(search.Metric("search_equal_searches_total", {{"outcome", "taken_over"}}), 0);
  EXPECT_EQ(Gone(search), 1);
  EXPECT_LE(Sum(WorkOf(search)), 4 * kHeavyWork + milliseconds(10)) << "no partition began again";
}

TEST(FrontendDeadlineTest, ASearchEndsWhenAllWhoWaitForItHaveLeft) {
  SimulatedSearch search(13);
  const char target[] = "/search?q=heavy+rare&format=json";
  search.BeginAndLeave(target, milliseconds(30));
  search.RunFor(milliseconds(2));
  search.BeginAndLeave(target, milliseconds(10));
  search.BeginAndLeave(target, milliseconds(20));
  search.RunFor(milliseconds(28));
  const auto before = WorkOf(search);
  EXPECT_GT(Sum(before), milliseconds(20)) << "seed 13: both partitions were at work";
  search.RunFor(seconds(2));
  const auto after = WorkOf(search);
  for (const std::string& server : kServers) {
    EXPECT_LE(after.at(server) - before.at(server), kNoticing) << "seed 13: " << server;
  }
  EXPECT_EQ(Gone(search), 3);
  EXPECT_EQ(search.Metric("search_gate_under_way", {}), 0);
}

// Work in all, for clients of whom most leave early, is that of those who stay and little more.
TEST(FrontendDeadlineTest, TheWorkIsThatOfTheClientsWhoStay) {
  SimulatedSearch search(11);
  std::vector<std::shared_ptr<TimedResponse>> stay;
  for (int i = 0; i < 30; ++i) {
    const std::string target = StrCat("/search?q=heavy+rare+x", i, "&format=json");
    if (i % 10 == 0) {
      stay.push_back(search.Begin(target));
    } else {
      search.BeginAndLeave(target, microseconds(500));
    }
    search.RunFor(milliseconds(40));
  }
  search.RunFor(seconds(2));
  for (const auto& response : stay) EXPECT_EQ(response->http.status, 200);
  const auto of_stayers = 4 * kHeavyWork * static_cast<int64_t>(stay.size());
  EXPECT_LE(Sum(WorkOf(search)), of_stayers + milliseconds(27 * 4));
}

}  // namespace
}  // namespace search::frontend
