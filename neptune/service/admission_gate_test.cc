// Requests of user-level threads before the gate, in virtual time.

#include "neptune/service/admission_gate.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/thread/user_thread.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ClassNumber kGold = 0;
constexpr ClassNumber kBronze = 1;

AdmissionOptions Options(size_t limit) {
  AdmissionOptions options;
  options.scheduling.classes = {{.name = "gold",
                                 .yield = *YieldFunction::Hybrid(4, seconds(1), 2, seconds(2)),
                                 .queue_length_max = 3},
                                {.name = "bronze",
                                 .yield = *YieldFunction::Hybrid(1, seconds(1), 0.5, seconds(2)),
                                 .queue_length_max = 3}};
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
    loop_.Post([=, this, &gate, out = outcome] {
      const auto started = threads_->Spawn([=, &gate] {
        const TimePoint now = this_thread::Now();
        auto pass = gate.Admit(service_class, now, now + patience);
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
          [this, &gate] { held_.emplace(*gate.Admit(kGold, this_thread::Now(), kNever)); });
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
