// From a request and profiles to an allocation, and what is refused on the way.

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "tools/mtrr/plan_file.h"
#include "tools/mtrr/thread_request.h"

namespace search::tools {
namespace {

using neptune::StatusCode;
using neptune::StatusOr;
using neptune::StrCat;

ServiceProfile ProfileOf(double rate, double alpha, int saturation) {
  const auto truth = *neptune::Speedup::Make(alpha, saturation);
  ServiceProfile profile;
  for (const int threads : {1, 2, 4, 8, 16, 23, 32}) {
    profile.points.push_back({threads, rate * truth.At(threads)});
  }
  EXPECT_TRUE(CompleteProfile(&profile).ok());
  return profile;
}

StatusOr<ServiceProfile> Read(const std::string& path) {
  if (path == "mixed") return ProfileOf(50, 0.14, 23);
  if (path == "static") return ProfileOf(200, 0, 1);
  return neptune::NotFound(path);
}

std::string Class(const std::string& name, const std::string& more,
                  const std::string& profile = "mixed") {
  return StrCat("classes { name: '", name, "' profile: '", profile, "' arrival_rate: 60 ", more,
                " }\n");
}

std::string Request(const std::string& classes) {
  return StrCat("service: 'index'\nthread_count_max: 32\n", classes);
}

StatusOr<AskedPlan> Parse(const std::string& text) { return ParseThreadRequest(text, "r", Read); }

StatusOr<Allocation> Plan(const std::string& text) {
  NEPTUNE_ASSIGN_OR_RETURN(const AskedPlan asked, Parse(text));
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ThreadPlan plan, neptune::PlanThreads(asked.input));
  return AllocationOf(asked, plan);
}

TEST(ThreadRequestTest, BecomesAPlansInput) {
  const AskedPlan asked = *Parse(Request(
      Class("gold", "queue_length_max: 128 response_max_ms: 500 cost { weight: 10 power: 2 }") +
      Class("bronze",
            "cost { points { response_ms: 100 cost: 1 } points { response_ms: 300 cost: 5 } }")));
  EXPECT_EQ(asked.service, "index");
  EXPECT_EQ(asked.input.thread_count_max, 32);
  EXPECT_EQ(asked.input.other_thread_count, 1);
  EXPECT_NEAR(asked.input.service_rate, 50, 1e-6);
  EXPECT_EQ(asked.input.speedup.saturation_point(), 23);
  const neptune::PlannedClass& gold = asked.input.classes[0];
  EXPECT_EQ(gold.queue_length_max, 128);
  EXPECT_EQ(gold.response_max_s, 0.5);
  EXPECT_DOUBLE_EQ(gold.holding_cost(3), 90);
  const neptune::PlannedClass& bronze = asked.input.classes[1];
  EXPECT_EQ(bronze.queue_length_max, 40);
  EXPECT_FALSE(bronze.response_max_s.has_value());
  EXPECT_DOUBLE_EQ(bronze.holding_cost(0.01), 1);
  EXPECT_DOUBLE_EQ(bronze.holding_cost(0.2), 3);
  EXPECT_DOUBLE_EQ(bronze.holding_cost(9), 5);
}

TEST(ThreadRequestTest, WhatIsWrongIsSaidWithItsLine) {
  const auto message = [](const std::string& text) {
    const auto refused = Parse(text);
    EXPECT_FALSE(refused.ok()) << text;
    return std::string(refused.status().message());
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message("thread_count_max: 3"), "service is missing");
  has(message("service: 'index'"), "thread_count_max");
  has(message(Request("")), "no classes");
  has(message(Request("other_threads: 32\n" + Class("gold", ""))), "other_threads");
  has(message(Request("colour: 3")), "r:3");
  has(message(Request(Class("a", "") + Class("b", "response_max_ms: -1"))), "r:4: class 'b'");
  has(message(Request(Class("a", "cost { weight: -1 }"))), "weight -1");
  has(message(Request(Class("a", "cost { weight: 1 points { cost: 1 } }"))), "either");
  has(message(Request(Class(
          "a", "cost { points { response_ms: 1 cost: 5 } points { response_ms: 2 cost: 1 } }"))),
      "costs less");
  has(message(Request(Class(
          "a", "cost { points { response_ms: 2 cost: 1 } points { response_ms: 2 cost: 2 } }"))),
      "order");
  has(message(Request("classes { name: 'a' profile: 'mixed' }")), "arrival_rate");
  has(message(Request("classes { name: 'a' arrival_rate: 1 }")), "profile is missing");
  EXPECT_EQ(Parse(Request(Class("a", "", "elsewhere"))).status().code(), StatusCode::kNotFound);
}

TEST(AllocationTest, IsReadAsItWasWrittenAndKeepsItsLimits) {
  const Allocation plan = *Plan(
      Request(Class("gold", "queue_length_max: 128 response_max_ms: 150 cost { weight: 10 }") +
              Class("bronze", "queue_length_max: 128")));
  ASSERT_EQ(plan.classes.size(), 2u);
  EXPECT_LE(plan.classes[0].worst_response_s, 0.150);
  EXPECT_TRUE(plan.warnings.empty());
  const Allocation again = *ParseAllocation(AllocationJson(plan), "plan");
  EXPECT_EQ(SettingsOf(again), SettingsOf(plan));
  EXPECT_EQ(SettingsOf(again).concurrency,
            plan.classes[0].watched.thread_count + plan.classes[1].watched.thread_count + 1);
  const neptune::OperatingPoint point = OperatingPointOf(again);
  EXPECT_EQ(point.classes[0].response_max_s, 0.150);
  EXPECT_FALSE(point.classes[1].response_max_s.has_value());
  EXPECT_EQ(point.classes[1].arrival_rate, 60);
  EXPECT_NEAR(point.service_rate, 50, 1e-6);
}

TEST(AllocationTest, DifferentKindsAreWarnedOf) {
  const Allocation plan =
      *Plan(Request(Class("gold", "", "static") + Class("bronze", "", "mixed")));
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_NE(plan.warnings[0].find("'gold' and 'bronze' run different kinds"), std::string::npos);
  EXPECT_NE(AllocationText(plan).find("warning: "), std::string::npos);
}

TEST(AllocationTest, APromiseThatCannotBeKeptIsRefusedWithItsReason) {
  const auto refused = Plan(Request(Class("gold", "response_max_ms: 1") + Class("bronze", "")));
  EXPECT_EQ(refused.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.status().message().find("'gold'"), absl::string_view::npos);
}

TEST(AllocationTest, AFileThatIsNoPlanIsRefused) {
  const std::string sound = AllocationJson(*Plan(Request(Class("gold", ""))));
  const auto refused = [&](const std::string& what, const std::string& with) {
    std::string text = sound;
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return ParseAllocation(text.replace(at, what.size(), with), "p").status().code() ==
           StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(ParseAllocation(sound, "p").ok());
  EXPECT_TRUE(refused("\"service\"", "\"servant\""));
  EXPECT_TRUE(refused("\"arrival_rate\": 60", "\"arrival_rate\": -60"));
  EXPECT_TRUE(refused("\"threads\": ", "\"threads\": 0"));
  EXPECT_TRUE(refused("\"classes\"", "\"orders\""));
  EXPECT_TRUE(refused("{", "["));
}

}  // namespace
}  // namespace search::tools
