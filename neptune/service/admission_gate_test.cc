// Requests of user-level threads before the gate, in virtual time.

#include "neptune/service/admission_gate.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/thread/user_thread.h"
#include "neptune/wire/incoming_call.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ClassNumber kGold = 0;
constexpr ClassNumber kBronze = 1;

AdmissionOptions Options(size_t limit) {
  AdmissionOptions options;
  options.scheduling.classes = {
      {.name = "gold", .yield = *YieldFunction::Hybrid(4, seconds(1), 2, seconds(2))},
      {.name = "bronze", .yield = *YieldFunction::Hybrid(1, seconds(1), 0.5, seconds(2))}};
  options.waiting_count_max = 3;
  options.limit = {.initial = limit, .min = 1, .max = limit};
  return options;
}

class AdmissionGateTest : public testing::Test {
 protected:
  AdmissionGateTest() : loop_(**simulator_.AddHost({.name = "a"}).StartLoop({.name = "test"})) {
    loop_.Post([this] { threads_ = std::make_unique<ThreadScheduler>(loop_); });
    simulator_.RunFor(milliseconds(1));
  }
  ~AdmissionGateTest() override {
    loop_.Post([this] {
      held_.reset();
      threads_->Stop();
    });
    simulator_.RunFor(seconds(10));
    loop_.Post([this] { threads_.reset(); });
    simulator_.RunFor(seconds(1));
  }

  AdmissionGate& Open(size_t limit) { return gate_.emplace(Options(limit)); }

  struct Outcome {
    Status status = Unavailable("not done");
    bool began = false;
    bool done = false;
  };
  // A request that takes as long once it has begun.
  std::shared_ptr<Outcome> Begin(AdmissionGate& gate, ClassNumber service_class, Duration time,
                                 Duration patience = seconds(30), bool refused = false) {
    auto outcome = std::make_shared<Outcome>();
    loop_.Post([=, this, &gate, out = outcome, client_ = client_, call_ = call_] {
      const auto started = threads_->Spawn([=, &gate] {
        const TimePoint now = this_thread::Now();
        auto pass = gate.Admit({.service_class = service_class,
                                .arrived = now,
                                .begin_by = now + patience,
                                .client = client_,
                                .call = call_.get()});
        out->status = pass.status();
        if (pass.ok()) {
          out->began = true;
          this_thread::SleepFor(time);
          pass->End({.refused = refused});
        }
        out->done = true;
      });
      ASSERT_TRUE(started.ok());
    });
    RunFor(milliseconds(1));
    return outcome;
  }
  // A request that stays under way whatever becomes of its thread.
  void Hold(AdmissionGate& gate) {
    loop_.Post([this, &gate] {
      const auto started = threads_->Spawn(
          [this, &gate] { held_.emplace(*gate.Admit({.arrived = this_thread::Now()})); });
      ASSERT_TRUE(started.ok());
    });
    RunFor(milliseconds(1));
  }
  void RunFor(Duration time) { simulator_.RunFor(time); }

  Simulator simulator_{1};
  Loop& loop_;
  std::unique_ptr<ThreadScheduler> threads_;
  std::optional<AdmissionGate> gate_;  // outlives those that wait before it
  std::optional<AdmissionGate::Pass> held_;
  // Client and call of the next requests.
  uint64_t client_ = 0;
  std::shared_ptr<IncomingCall> call_;
};

TEST_F(AdmissionGateTest, AsManyBeginAsTheLimitLets) {
  AdmissionGate& gate = Open(2);
  std::vector<std::shared_ptr<Outcome>> all;
  for (int i = 0; i < 3; ++i) all.push_back(Begin(gate, kGold, milliseconds(100)));
  EXPECT_EQ(gate.under_way(), 2u);
  EXPECT_EQ(gate.waiting(), 1u);
  RunFor(milliseconds(100));
  EXPECT_TRUE(all[2]->began);
  RunFor(milliseconds(110));
  EXPECT_EQ(gate.under_way(), 0u);
  for (const auto& one : all) EXPECT_TRUE(one->status.ok()) << one->status;
}

TEST_F(AdmissionGateTest, TheClassThatYieldsMoreBeginsFirst) {
  AdmissionGate& gate = Open(1);
  const auto first = Begin(gate, kBronze, milliseconds(100));
  const auto bronze = Begin(gate, kBronze, milliseconds(100));
  const auto gold = Begin(gate, kGold, milliseconds(100));
  RunFor(milliseconds(150));
  EXPECT_TRUE(gold->began);
  EXPECT_FALSE(bronze->began);
  RunFor(seconds(1));
  EXPECT_TRUE(bronze->status.ok());
}

TEST_F(AdmissionGateTest, AFullQueueRefusesAtOnceAndItsOwnClassOnly) {
  AdmissionGate& gate = Open(1);
  std::vector<std::shared_ptr<Outcome>> bronze;
  for (int i = 0; i < 5; ++i) bronze.push_back(Begin(gate, kBronze, milliseconds(100)));
  ASSERT_TRUE(bronze.back()->done);
  EXPECT_EQ(bronze.back()->status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(bronze.back()->status.message().find("bronze"), absl::string_view::npos);
  const auto gold = Begin(gate, kGold, milliseconds(1));
  EXPECT_FALSE(gold->done) << "it waits";
}

TEST_F(AdmissionGateTest, WhatWouldYieldNothingIsRefusedWhenItIsKnown) {
  AdmissionGate& gate = Open(1);
  const auto first = Begin(gate, kGold, milliseconds(1900));
  const auto late = Begin(gate, kGold, milliseconds(1900));
  RunFor(milliseconds(1950));
  ASSERT_TRUE(late->done);
  EXPECT_FALSE(late->began);
  EXPECT_EQ(late->status.code(), StatusCode::kResourceExhausted) << late->status;
}

TEST_F(AdmissionGateTest, ItsDeadlineEndsTheWait) {
  AdmissionGate& gate = Open(1);
  const auto first = Begin(gate, kGold, seconds(1));
  const auto hasty = Begin(gate, kGold, milliseconds(1), milliseconds(50));
  RunFor(milliseconds(60));
  ASSERT_TRUE(hasty->done);
  EXPECT_EQ(hasty->status.code(), StatusCode::kDeadlineExceeded) << hasty->status;
  EXPECT_EQ(gate.waiting(), 0u);
}

TEST_F(AdmissionGateTest, AClientThatLeavesEndsItsWaitAtOnce) {
  AdmissionGate& gate = Open(1);
  const auto first = Begin(gate, kGold, seconds(1));
  call_ = std::make_shared<IncomingCall>();
  const auto leaving = Begin(gate, kGold, seconds(1));
  const std::shared_ptr<IncomingCall> call = std::exchange(call_, nullptr);
  const auto last = Begin(gate, kGold, milliseconds(1));
  loop_.Post([&] { call->Cancel(); });
  RunFor(milliseconds(1));
  ASSERT_TRUE(leaving->done);
  EXPECT_EQ(leaving->status.code(), StatusCode::kCancelled) << leaving->status;
  EXPECT_EQ(gate.waiting(), 1u);
  call_ = call;
  EXPECT_TRUE(Begin(gate, kGold, seconds(1))->done) << "it is gone already";
  RunFor(milliseconds(1010));
  EXPECT_TRUE(last->status.ok()) << last->status;
}

// A client that has filled the queue makes room for others, which have the next turns.
TEST_F(AdmissionGateTest, AClientThatAsksMuchWaitsForItself) {
  AdmissionGate& gate = Open(1);
  Hold(gate);
  client_ = 1;
  std::vector<std::shared_ptr<Outcome>> greedy;
  for (int i = 0; i < 3; ++i) greedy.push_back(Begin(gate, kGold, milliseconds(100)));
  client_ = 2;
  const auto modest = Begin(gate, kGold, milliseconds(100));
  EXPECT_TRUE(greedy[2]->done) << "the newest of those of the client with the most";
  loop_.Post([&] { held_.reset(); });
  RunFor(milliseconds(110));
  EXPECT_TRUE(greedy[0]->done);
  EXPECT_TRUE(modest->began);
  EXPECT_FALSE(greedy[1]->began);
}

TEST_F(AdmissionGateTest, WhatCannotBeginInTimeIsRefusedAtOnceOnceThePaceIsKnown) {
  AdmissionOptions options = Options(1);
  options.waiting_count_max = 1000;
  AdmissionGate& gate = gate_.emplace(options);
  std::vector<std::shared_ptr<Outcome>> known;
  for (int i = 0; i < 20; ++i) known.push_back(Begin(gate, kGold, milliseconds(10)));
  RunFor(milliseconds(300));
  std::vector<std::shared_ptr<Outcome>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(Begin(gate, kGold, milliseconds(10), milliseconds(105)));
  }
  EXPECT_FALSE(all[5]->done);
  EXPECT_TRUE(all.back()->done);
  EXPECT_EQ(all.back()->status.code(), StatusCode::kResourceExhausted) << all.back()->status;
  RunFor(milliseconds(300));
  size_t late = 0;
  for (const auto& one : all) {
    late += one->status.code() == StatusCode::kDeadlineExceeded ? 1 : 0;
  }
  EXPECT_LE(late, 1u) << "none waits in vain";
}

TEST_F(AdmissionGateTest, RefusalsByServersLowerTheLimit) {
  AdmissionGate& gate = Open(10);
  for (int i = 0; i < 20; ++i) {
    const auto one = Begin(gate, kGold, milliseconds(1), seconds(1), true);
    RunFor(milliseconds(5));
    EXPECT_TRUE(one->done);
  }
  EXPECT_EQ(gate.limit(), 1u);
}

TEST_F(AdmissionGateTest, AStopEndsTheWait) {
  AdmissionGate& gate = Open(1);
  Hold(gate);
  const auto waiting = Begin(gate, kGold, milliseconds(1));
  loop_.Post([this] { threads_->Stop(); });
  RunFor(milliseconds(10));
  ASSERT_TRUE(waiting->done);
  EXPECT_EQ(waiting->status.code(), StatusCode::kCancelled) << waiting->status;
}

}  // namespace
}  // namespace neptune
