// Policies from shared libraries: the example in C, and plug-ins that misbehave.

#include "neptune/capsule/policy_plugin.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_permit.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/thread/simulated_threads.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kFolder[] = "neptune/capsule/plugin/";

class PolicyPluginTest : public SimulatedThreads {
 protected:
  ~PolicyPluginTest() override { StopThreads(); }

  static CapsuleConfig ConfigOf(const std::string& library, const std::string& parameters) {
    CapsuleConfig config;
    config.name = "db";
    config.rules = {*ClassificationRule::Parse("service:db")};
    config.processing_count_max = 1;
    config.policy = {PolicyKind::kPlugin, {}, StrCat(kFolder, library), parameters};
    return config;
  }
  // A call of 10 ms whose deadline comes after `deadline_ms`.
  void Call(const std::string& name, int deadline_ms) {
    Spawn([this, name, deadline_ms] {
      CapsulePermit visit;
      const TimePoint deadline = this_thread::Now() + milliseconds(deadline_ms);
      Status status =
          visit.Enter(stack_, NetworkOperation{.service = "db"}, {.deadline = deadline});
      if (status.ok()) this_thread::SleepFor(milliseconds(10));
      visit.Leave(CapsuleOutcome::kDone);
      log_.push_back(StrCat(name, " ", ToStd(absl::StatusCodeToString(status.code()))));
    });
    simulator_.RunFor(Duration(1));
  }
  CapsuleStatistics Statistics() { return stack_.Inspect(simulator_.now()).front().statistics; }

  CapsuleStack stack_;
  std::vector<std::string> log_;
};

using Log = std::vector<std::string>;

TEST_F(PolicyPluginTest, TheExampleInCGivesTheNearestDeadlineTheFirstTurn) {
  ASSERT_TRUE(stack_.Create(ConfigOf("earliest_deadline.so", "")).ok());
  Call("first", 500);
  Call("late", 400);
  Call("soon", 100);
  Call("sooner", 50);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"first OK", "sooner OK", "soon OK", "late OK"}));
}

TEST_F(PolicyPluginTest, TheExampleEndsWhatWouldComeTooLate) {
  ASSERT_TRUE(stack_.Create(ConfigOf("earliest_deadline.so", "spare_ms=30")).ok());
  Call("hopeless", 20);
  Call("fine", 50);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"hopeless ABORTED", "fine OK"}));
  EXPECT_EQ(Statistics().terminated, 1u);
}

TEST_F(PolicyPluginTest, TheExampleSendsWhatWouldComeTooLateElsewhere) {
  CapsuleConfig replica;
  replica.name = "replica";
  replica.rules = {*ClassificationRule::Parse("service:replica")};
  ASSERT_TRUE(stack_.Create(replica).ok());
  ASSERT_TRUE(
      stack_.Create(ConfigOf("earliest_deadline.so", "spare_ms=30 otherwise=replica")).ok());
  Call("late", 20);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"late OK"}));
  EXPECT_EQ(Statistics().migrated, 1u);
  EXPECT_EQ(stack_.Named("replica")->Inspect(simulator_.now()).control.done, 1u);
}

TEST_F(PolicyPluginTest, WaiterThatGivesUpIsForgotten) {
  ASSERT_TRUE(stack_.Create(ConfigOf("earliest_deadline.so", "")).ok());
  for (int i = 0; i < 100; ++i) Call(StrCat(i), 15 + i % 7);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_.size(), 100u);
  EXPECT_EQ(Statistics().waiting_count, 0u);
  EXPECT_EQ(Statistics().policy_failures, 0u);
}

TEST_F(PolicyPluginTest, OtherLibraryIsRefused) {
  const auto refusal = [&](const std::string& library, const std::string& parameters) {
    return stack_.Create(ConfigOf(library, parameters));
  };
  EXPECT_EQ(refusal("absent.so", "").code(), StatusCode::kNotFound);
  const Status lacking = refusal("lacking_policy.so", "");
  EXPECT_EQ(lacking.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(lacking.message().find("lacks the callback next"), absl::string_view::npos) << lacking;
  const Status refused = refusal("broken_policy.so", "");
  EXPECT_NE(refused.message().find("the parameter must name a fault"), absl::string_view::npos)
      << refused;
  const Status threw = refusal("broken_policy.so", "throw_in_create");
  EXPECT_NE(threw.message().find("it threw: create"), absl::string_view::npos) << threw;
  const Status wrong = refusal("earliest_deadline.so", "spare_ms=many");
  EXPECT_NE(wrong.message().find("spare_ms=many"), absl::string_view::npos) << wrong;
  EXPECT_EQ(stack_.Inspect(simulator_.now()).size(), 1u);
}

TEST_F(PolicyPluginTest, BrokenPluginIsReplacedAndNoCallIsLost) {
  for (const char* const how :
       {"throw_in_arrive", "throw_in_wait", "throw_in_next", "unknown", "nothing"}) {
    log_.clear();
    ASSERT_TRUE(stack_.Create(ConfigOf("broken_policy.so", how)).ok());
    for (const char* name : {"a", "b", "c"}) Call(name, 500);
    simulator_.RunFor(seconds(1));
    EXPECT_EQ(log_, (Log{"a OK", "b OK", "c OK"})) << how;
    EXPECT_EQ(Statistics().policy_failures, 1u) << how;
    EXPECT_EQ(Statistics().processing_count, 0u) << how;
    ASSERT_TRUE(stack_.Destroy("db").ok());
  }
}

TEST_F(PolicyPluginTest, PluginThatThrowsInForgetIsReplaced) {
  ASSERT_TRUE(stack_.Create(ConfigOf("broken_policy.so", "throw_in_forget")).ok());
  Call("a", 500);
  Call("gives up", 5);
  Call("b", 500);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"gives up DEADLINE_EXCEEDED", "a OK", "b OK"}));
  EXPECT_EQ(Statistics().policy_failures, 1u);
}

TEST_F(PolicyPluginTest, PluginThatThrowsInItsDestructorIsDestroyed) {
  ASSERT_TRUE(stack_.Create(ConfigOf("broken_policy.so", "throw_in_destroy")).ok());
  for (const char* name : {"a", "b"}) Call(name, 500);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"a OK", "b OK"}));
  EXPECT_TRUE(stack_.Destroy("db").ok());
}

TEST_F(PolicyPluginTest, ADelayComesBeforeTheTurn) {
  ASSERT_TRUE(stack_.Create(ConfigOf("broken_policy.so", "delay")).ok());
  Call("a", 500);
  EXPECT_EQ(Statistics().control.resident_count, 1u);
  EXPECT_EQ(Statistics().processing_count, 0u);
  simulator_.RunFor(milliseconds(6));
  EXPECT_EQ(Statistics().processing_count, 1u);
  Call("too short", 3);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"too short DEADLINE_EXCEEDED", "a OK"}));
}

TEST_F(PolicyPluginTest, AnEventHandlersDelayIsPartOfItsWait) {
  ASSERT_TRUE(stack_.Create(ConfigOf("broken_policy.so", "delay")).ok());
  CapsulePermit visit;
  bool has_turn = false;
  loop_.Post([&] {
    EXPECT_EQ(visit.Begin(stack_, NetworkOperation{.service = "db"}, {}, [&] { has_turn = true; }),
              std::nullopt);
  });
  simulator_.RunFor(milliseconds(4));
  EXPECT_FALSE(has_turn);
  simulator_.RunFor(milliseconds(2));
  EXPECT_TRUE(has_turn);
  loop_.Post([&] { visit.Leave(CapsuleOutcome::kDone); });
  simulator_.RunFor(milliseconds(1));
}

TEST_F(PolicyPluginTest, AMigrationToNowhereIsRefused) {
  ASSERT_TRUE(stack_.Create(ConfigOf("broken_policy.so", "nowhere")).ok());
  Call("a", 500);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"a UNAVAILABLE"}));
}

}  // namespace
}  // namespace neptune
