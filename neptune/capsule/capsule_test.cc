// User-level threads in capsules, in virtual time.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_permit.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

NetworkOperation To(std::string_view service) { return {.service = service}; }

// A capsule of the service of that name.
CapsuleConfig ConfigOf(const std::string& service) {
  CapsuleConfig config;
  config.name = service;
  config.rules = {*ClassificationRule::Parse("service:" + service)};
  return config;
}

class CapsuleTest : public testing::Test {
 protected:
  CapsuleTest()
      : host_(simulator_.AddHost({.name = "a"})), loop_(**host_.StartLoop({.name = "main"})) {
    OnLoop([this] { threads_ = std::make_unique<ThreadScheduler>(loop_); });
  }
  ~CapsuleTest() override {
    OnLoop([this] { threads_->Stop(); });
    simulator_.RunFor(seconds(1));
    EXPECT_EQ(threads_->live_count(), 0u);
  }

  int64_t NowMs() const { return simulator_.now().time_since_epoch() / milliseconds(1); }
  void OnLoop(Task task) {
    loop_.Post(std::move(task));
    simulator_.RunFor(Duration(1));
  }
  void Spawn(Task body) {
    OnLoop([this, body = std::move(body)]() mutable {
      ASSERT_TRUE(threads_->Spawn(std::move(body)).ok());
    });
  }
  // Spawns a thread whose call to `service` takes `time`; logs the result as "NAME TIME_MS CODE".
  void Call(const std::string& name, const std::string& service, Duration time,
            VisitOptions options = {}) {
    Spawn([this, name, service, time, options]() mutable {
      if (options.deadline != kNever) options.deadline += this_thread::Now().time_since_epoch();
      CapsulePermit visit;
      Status status = visit.Enter(stack_, To(service), options);
      if (status.ok()) {
        const TimePoint end = this_thread::Now() + time;
        this_thread::SleepUntil(std::min(end, visit.deadline()));
        const bool done = this_thread::Now() >= end;
        if (!done) status = DeadlineExceeded("late");
        visit.Leave(done ? CapsuleOutcome::kDone : CapsuleOutcome::kTimedOut);
      }
      log_.push_back(StrCat(name, " ", NowMs(), " ", StatusCodeName(status)));
    });
  }
  static std::string StatusCodeName(const Status& status) {
    return std::string(ToStd(absl::StatusCodeToString(status.code())));
  }
  CapsuleStatistics StatisticsOf(const std::string& capsule) {
    return stack_.Named(capsule) == nullptr ? CapsuleStatistics() : ReportOf(capsule).statistics;
  }
  CapsuleReport ReportOf(const std::string& capsule) {
    for (const CapsuleReport& report : stack_.Inspect(simulator_.now())) {
      if (report.config.name == capsule) return report;
    }
    ADD_FAILURE() << "no capsule " << capsule;
    return {};
  }

  Simulator simulator_{7};
  SimWorld& host_;
  Loop& loop_;
  CapsuleStack stack_;
  std::unique_ptr<ThreadScheduler> threads_;
  std::vector<std::string> log_;
};

using Log = std::vector<std::string>;

TEST_F(CapsuleTest, OneOverTheBoundIsRefusedByName) {
  CapsuleConfig config = ConfigOf("db");
  config.limits.resident_count_max = 2;
  ASSERT_TRUE(stack_.Create(config).ok());
  Call("a", "db", milliseconds(10));
  Call("b", "db", milliseconds(10));
  Spawn([this] {
    CapsulePermit visit;
    const Status status = visit.Enter(stack_, To("db"));
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    EXPECT_NE(status.message().find("'db'"), absl::string_view::npos) << status;
    EXPECT_FALSE(visit.inside());
  });
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"a 10 OK", "b 10 OK"}));
  EXPECT_EQ(StatisticsOf("db").control.refused, 1u);
}

TEST_F(CapsuleTest, MoreThanMayBeProcessedWaitTheirTurn) {
  CapsuleConfig config = ConfigOf("db");
  config.processing_count_max = 2;
  ASSERT_TRUE(stack_.Create(config).ok());
  for (const char* name : {"a", "b", "c", "d", "e"}) Call(name, "db", milliseconds(10));
  EXPECT_EQ(StatisticsOf("db").waiting_count, 3u);
  EXPECT_EQ(StatisticsOf("db").processing_count, 2u);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"a 10 OK", "b 10 OK", "c 20 OK", "d 20 OK", "e 30 OK"}));
  EXPECT_EQ(StatisticsOf("db").waited, 3u);
}

TEST_F(CapsuleTest, TheTimeoutIsOverWaitingAndProcessing) {
  CapsuleConfig config = ConfigOf("db");
  config.processing_count_max = 1;
  config.limits.timeout = milliseconds(25);
  ASSERT_TRUE(stack_.Create(config).ok());
  for (const char* name : {"a", "b", "c", "d"}) Call(name, "db", milliseconds(10));
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"a 10 OK", "b 20 OK", "c 25 DEADLINE_EXCEEDED", "d 25 DEADLINE_EXCEEDED"}));
  EXPECT_EQ(StatisticsOf("db").control.timed_out, 2u);
  EXPECT_EQ(StatisticsOf("db").control.resident_count, 0u);
  EXPECT_EQ(StatisticsOf("db").processing_count, 0u);
}

TEST_F(CapsuleTest, TheCallersOwnDeadlineCountsIfItIsFirst) {
  ASSERT_TRUE(stack_.Create(ConfigOf("db")).ok());
  Call("a", "db", milliseconds(50), {.deadline = TimePoint(milliseconds(5))});
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"a 5 DEADLINE_EXCEEDED"}));
}

TEST_F(CapsuleTest, AHungDependencyDelaysNobodyElse) {
  ASSERT_TRUE(stack_.Create(ConfigOf("hung")).ok());
  for (int i = 0; i < 500; ++i) Call("hung", "hung", seconds(3600));
  Call("fine", "other", milliseconds(10));
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(log_, (Log{"fine 10 OK"}));
  EXPECT_EQ(StatisticsOf("hung").control.resident_count, 500u);
  EXPECT_EQ(StatisticsOf("hung").mean_age, milliseconds(100));
}

TEST_F(CapsuleTest, RoundRobinGoesOverTheCallers) {
  CapsuleConfig config = ConfigOf("db");
  config.processing_count_max = 1;
  config.policy.kind = PolicyKind::kRoundRobin;
  ASSERT_TRUE(stack_.Create(config).ok());
  for (const char* name : {"x1", "x2", "x3", "x4"})
    Call(name, "db", milliseconds(1), {.caller = 1});
  Call("y1", "db", milliseconds(1), {.caller = 2});
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"x1 1 OK", "x2 2 OK", "y1 3 OK", "x3 4 OK", "x4 5 OK"}));
}

TEST_F(CapsuleTest, PriorityIsThatOfTheServiceClass) {
  CapsuleConfig config = ConfigOf("db");
  config.processing_count_max = 1;
  config.policy = {PolicyKind::kPriority, {"gold", "silver"}, {}, {}};
  ASSERT_TRUE(stack_.Create(config).ok());
  Call("first", "db", milliseconds(1));
  Call("none", "db", milliseconds(1));
  Call("silver", "db", milliseconds(1), {.service_class = "silver"});
  Call("gold", "db", milliseconds(1), {.service_class = "gold"});
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"first 1 OK", "gold 2 OK", "silver 3 OK", "none 4 OK"}));
}

TEST_F(CapsuleTest, BypassedCapsuleReturnsAfterAProbe) {
  CapsuleConfig config = ConfigOf("cache");
  config.limits.timeout = milliseconds(500);
  config.feedback = {.low_watermark = 2, .high_watermark = 10};
  ASSERT_TRUE(stack_.Create(config).ok());
  for (int i = 0; i < 12; ++i) Call("hung", "cache", seconds(10));
  EXPECT_TRUE(StatisticsOf("cache").bypassing);
  EXPECT_EQ(log_.back(), "hung 0 UNAVAILABLE");
  simulator_.RunFor(milliseconds(800));  // all have timed out
  log_.clear();
  Call("probe", "cache", milliseconds(10));
  Call("bypassed", "cache", milliseconds(10));
  simulator_.RunFor(milliseconds(20));
  Call("back", "cache", milliseconds(10));
  simulator_.RunFor(milliseconds(20));
  EXPECT_EQ(log_, (Log{"bypassed 800 UNAVAILABLE", "probe 810 OK", "back 830 OK"}));
  EXPECT_FALSE(StatisticsOf("cache").bypassing);
}

TEST_F(CapsuleTest, RefusedCallMayEnterAnotherCapsule) {
  CapsuleConfig first = ConfigOf("first");
  first.limits.resident_count_max = 1;
  first.migrate_to = "second";
  EXPECT_EQ(stack_.Create(first).code(), StatusCode::kNotFound) << "nothing to migrate to";
  ASSERT_TRUE(stack_.Create(ConfigOf("second")).ok());
  ASSERT_TRUE(stack_.Create(first).ok());
  Call("a", "first", milliseconds(10));
  Spawn([this] {
    CapsulePermit visit;
    ASSERT_TRUE(visit.Enter(stack_, To("first")).ok());
    EXPECT_TRUE(visit.migrated());
    EXPECT_EQ(visit.capsule()->name(), "second");
    visit.Leave(CapsuleOutcome::kDone);
  });
  EXPECT_EQ(StatisticsOf("first").migrated, 1u);
  EXPECT_EQ(StatisticsOf("second").control.done, 1u);
}

TEST_F(CapsuleTest, ForbiddenMigrationIsRefused) {
  CapsuleConfig first = ConfigOf("first");
  first.limits.resident_count_max = 1;
  first.migrate_to = "second";
  ASSERT_TRUE(stack_.Create(ConfigOf("second")).ok());
  ASSERT_TRUE(stack_.Create(first).ok());
  Call("a", "first", milliseconds(10));
  Call("b", "first", milliseconds(10), {.may_migrate = false});
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"b 0 RESOURCE_EXHAUSTED", "a 10 OK"}));
  EXPECT_EQ(StatisticsOf("first").migrated, 0u);
}

TEST_F(CapsuleTest, CapsulesThatSendToEachOtherEndInARefusal) {
  std::vector<CapsuleConfig> configs;
  for (const auto& [name, other] : std::map<std::string, std::string>{{"x", "y"}, {"y", "x"}}) {
    configs.push_back(ConfigOf(name));
    configs.back().limits.resident_count_max = 1;
    configs.back().migrate_to = other;
  }
  ASSERT_TRUE(stack_.Load(configs).ok());
  for (int i = 0; i < 3; ++i) Call(StrCat(i), "x", milliseconds(10));
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"2 0 RESOURCE_EXHAUSTED", "0 10 OK", "1 10 OK"}));
}

TEST_F(CapsuleTest, ThreadThatGivesUpLeavesTheQueueAndKeepsAForeignWake) {
  CapsuleConfig config = ConfigOf("db");
  config.processing_count_max = 1;
  ASSERT_TRUE(stack_.Create(config).ok());
  Call("a", "db", milliseconds(10));
  bool gone = false;
  ThreadRef waiter;
  Spawn([&] {
    waiter = ThreadRef(UserThread::Current());
    CapsulePermit visit;
    const Status status = visit.Enter(stack_, To("db"), {.given_up = [&] { return gone; }});
    EXPECT_EQ(status.code(), StatusCode::kCancelled);
    EXPECT_EQ(this_thread::Park(), ParkResult::kWoken) << "the wake was swallowed";
    log_.push_back("gave up");
  });
  OnLoop([&] {
    gone = true;
    waiter->Wake();
  });
  EXPECT_EQ(StatisticsOf("db").waiting_count, 0u);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"gave up", "a 10 OK"}));
  EXPECT_EQ(StatisticsOf("db").control.cancelled, 1u);
}

TEST_F(CapsuleTest, ADestroyedCapsuleKeepsItsOwnAndTakesNoMore) {
  CapsuleConfig config = ConfigOf("db");
  config.processing_count_max = 1;
  config.limits.timeout = milliseconds(15);
  ASSERT_TRUE(stack_.Create(config).ok());
  for (const char* name : {"a", "b", "c"}) Call(name, "db", milliseconds(10));
  ASSERT_TRUE(stack_.Destroy("db").ok());
  Call("later", "db", milliseconds(30));
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_,
            (Log{"a 10 OK", "b 15 DEADLINE_EXCEEDED", "c 15 DEADLINE_EXCEEDED", "later 30 OK"}));
  EXPECT_EQ(StatisticsOf(std::string(kDefaultCapsule)).control.done, 1u);
  EXPECT_EQ(stack_.Destroy("db").code(), StatusCode::kNotFound);
}

TEST_F(CapsuleTest, AChangeAppliesToThoseThatWait) {
  CapsuleConfig config = ConfigOf("db");
  config.processing_count_max = 1;
  ASSERT_TRUE(stack_.Create(config).ok());
  for (const char* name : {"a", "b", "c"}) Call(name, "db", milliseconds(10));
  config.processing_count_max = 3;
  config.policy.kind = PolicyKind::kRoundRobin;
  OnLoop([&] { ASSERT_TRUE(stack_.Change(config).ok()); });
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(log_, (Log{"a 10 OK", "b 10 OK", "c 10 OK"}));
}

TEST_F(CapsuleTest, TheTopMostCapsuleThatTakesAnOperationHasIt) {
  CapsuleConfig one = ConfigOf("one");
  one.rules = {*ClassificationRule::Parse("service:index/1")};
  CapsuleConfig all = ConfigOf("all");
  all.rules = {*ClassificationRule::Parse("service:index")};
  ASSERT_TRUE(stack_.Create(all).ok());
  ASSERT_TRUE(stack_.Create(one).ok());  // on top
  const auto capsule_of = [&](uint32_t partition) {
    return stack_.Find(NetworkOperation{.service = "index", .partition = PartitionId(partition)})
        ->name();
  };
  EXPECT_EQ(capsule_of(1), "one");
  EXPECT_EQ(capsule_of(2), "all");
  EXPECT_EQ(stack_.Find(To("cache"))->name(), kDefaultCapsule);
  EXPECT_EQ(stack_.Find(DeviceOperation{"/tmp/x"}), nullptr);
  CapsuleConfig between = ConfigOf("between");
  between.rules = one.rules;
  ASSERT_TRUE(stack_.Destroy("one").ok());
  ASSERT_TRUE(stack_.Create(between, "default").ok());
  EXPECT_EQ(capsule_of(1), "all");
}

TEST_F(CapsuleTest, ALoadThatFailsChangesNothing) {
  CapsuleConfig bottom = DefaultCapsuleConfig();
  bottom.limits.resident_count_max = 5;
  CapsuleConfig wrong = ConfigOf("wrong");
  wrong.rules.clear();
  EXPECT_EQ(stack_.Load({ConfigOf("a"), bottom, wrong}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(stack_.Inspect(simulator_.now()).size(), 1u);
  EXPECT_EQ(ReportOf("default").config.limits.resident_count_max, 100'000u);
  EXPECT_EQ(stack_.Load({ConfigOf("a"), ConfigOf("a")}).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(stack_.Load({ConfigOf("a"), bottom, ConfigOf("b")}).ok());
  const std::vector<CapsuleReport> reports = stack_.Inspect(simulator_.now());
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[0].config.name, "a");
  EXPECT_EQ(reports[1].config.name, "b");
  EXPECT_EQ(reports[2].config.limits.resident_count_max, 5u);
  CapsuleConfig changed = ConfigOf("b");
  changed.limits.resident_count_max = 3;
  ASSERT_TRUE(stack_.Load({ConfigOf("c"), changed}).ok());
  EXPECT_EQ(stack_.Inspect(simulator_.now())[0].config.name, "c");
  EXPECT_EQ(ReportOf("b").config.limits.resident_count_max, 3u);
}

TEST_F(CapsuleTest, AnEventHandlerHoldsAPlaceThoughNoThreadWaits) {
  CapsuleConfig config = ConfigOf("db");
  config.processing_count_max = 1;
  ASSERT_TRUE(stack_.Create(config).ok());
  CapsulePermit first;
  CapsulePermit second;
  CapsulePermit third;
  OnLoop([&] {
    EXPECT_EQ(first.Begin(stack_, To("db"), {}, [] {}), OkStatus());
    EXPECT_EQ(second.Begin(stack_, To("db"), {}, [&] { log_.push_back("second"); }), std::nullopt);
    EXPECT_EQ(third.Begin(stack_, To("db"), {}, [&] { log_.push_back("third"); }), std::nullopt);
    second.Leave(CapsuleOutcome::kTimedOut);
    first.Leave(CapsuleOutcome::kDone);
  });
  EXPECT_EQ(log_, Log{"third"});
  OnLoop([&] { third.Leave(CapsuleOutcome::kDone); });
  EXPECT_EQ(StatisticsOf("db").control.resident_count, 0u);
  EXPECT_EQ(StatisticsOf("db").processing_count, 0u);
}

TEST(CapsuleStackTest, WithoutTheDefaultOneOnlyRulesTakeOperations) {
  CapsuleStack stack({.with_default = false});
  EXPECT_EQ(stack.Find(To("a")), nullptr);
  ASSERT_TRUE(stack.Create(ConfigOf("a")).ok());
  EXPECT_EQ(stack.Find(To("a")), stack.Named("a"));
  EXPECT_EQ(stack.Find(To("b")), nullptr);
  EXPECT_EQ(stack.Create(DefaultCapsuleConfig()).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace neptune
