#include "neptune/node/loop_watch.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A loop that can be made to hang: it takes tasks and timers, and runs none.
class HangingLoop final : public Loop {
 public:
  explicit HangingLoop(Loop& inner) : inner_(inner) {}

  void Hang() { hangs_ = true; }
  void GoOn() {
    hangs_ = false;
    for (Task& task : std::exchange(held_, {})) inner_.Post(std::move(task));
  }

  TimePoint Now() const override { return inner_.Now(); }
  void Post(Task task) override { inner_.Post(Held(std::move(task))); }
  TimerId RunAt(TimePoint when, Task task) override {
    return inner_.RunAt(when, Held(std::move(task)));
  }
  bool CancelTimer(TimerId timer) override { return inner_.CancelTimer(timer); }
  Network& network() override { return inner_.network(); }
  RandomSource& random() override { return inner_.random(); }
  void FillUnpredictable(char* bytes, size_t size) override {
    inner_.FillUnpredictable(bytes, size);
  }

 private:
  Task Held(Task task) {
    return [this, task = std::move(task)]() mutable {
      if (!hangs_) return task();
      held_.push_back(std::move(task));
    };
  }

  Loop& inner_;
  bool hangs_ = false;
  std::deque<Task> held_;
};

class LoopWatchTest : public testing::Test {
 protected:
  LoopWatchTest() : simulator_(1) {
    simulator_.AddHost({.name = "host", .boot = [this](World& world) { return Boot(world); }});
    simulator_.RunFor(milliseconds(1));
  }

  std::shared_ptr<void> Boot(World& world) {
    for (const char* name : {"control", "admin", "serve-0", "work-0"}) {
      loops_.push_back(std::make_unique<HangingLoop>(**world.StartLoop({.name = name})));
      watch_.Add(name, *loops_.back(), DutyOf(name));
    }
    loops_[0]->Post(
        [this] { EXPECT_TRUE(watch_.Start(*loops_[0], loops_[1].get(), metrics_).ok()); });
    return nullptr;
  }
  static LoopWatch::Duty DutyOf(const std::string& name) {
    if (name == "work-0") return LoopWatch::Duty::kMayBeBusy;
    return name == "admin" ? LoopWatch::Duty::kAnswers : LoopWatch::Duty::kServes;
  }
  size_t StalledCount() const { return watch_.Complaints(now()).size(); }
  HangingLoop& loop(size_t index) { return *loops_[index]; }
  TimePoint now() const { return loops_[0]->Now(); }
  // The state as the status page has it, by loop.
  std::string StateOf(size_t index) const {
    StatusReport report;
    watch_.Describe(now(), &report);
    return std::get<std::string>(report.tables.at(0).rows.at(index).at(1));
  }

  std::vector<std::unique_ptr<HangingLoop>> loops_;
  MetricsRegistry metrics_;
  LoopWatch watch_;
  Simulator simulator_;
};

TEST_F(LoopWatchTest, LoopsThatAnswerAreNotReported) {
  simulator_.RunFor(seconds(100));
  EXPECT_EQ(StalledCount(), 0u);
  EXPECT_TRUE(watch_.CanServe(now()));
  for (size_t i = 0; i < loops_.size(); ++i) EXPECT_EQ(StateOf(i), "answers");
}

TEST_F(LoopWatchTest, AHungLoopIsReportedWithinTwoSecondsAndUntilItAnswers) {
  simulator_.RunFor(seconds(10));
  loop(2).Hang();
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(StalledCount(), 0u);
  simulator_.RunFor(milliseconds(700));
  EXPECT_EQ(StalledCount(), 1u);
  simulator_.RunFor(seconds(10));
  ASSERT_EQ(watch_.Complaints(now()).size(), 1u);
  EXPECT_EQ(watch_.Complaints(now())[0].substr(0, 36), "loop serve-0 has not answered for 11");
  EXPECT_EQ(StateOf(2), "stalled");
  EXPECT_FALSE(watch_.CanServe(now()));
  loop(2).GoOn();
  simulator_.RunFor(milliseconds(1));
  EXPECT_EQ(StalledCount(), 0u);
  EXPECT_EQ(StateOf(2), "answers");
}

// Each ticker sees what hangs the other one.
TEST_F(LoopWatchTest, AHungTickerIsReported) {
  for (const size_t hung : {0u, 1u}) {
    loop(hung).Hang();
    simulator_.RunFor(seconds(3));
    EXPECT_EQ(StateOf(hung), "stalled");
    EXPECT_EQ(StalledCount(), 1u);
    EXPECT_EQ(watch_.CanServe(now()), hung == 1);  // not for its administration
    loop(hung).GoOn();
    simulator_.RunFor(seconds(1));
    EXPECT_EQ(StalledCount(), 0u);
  }
}

TEST_F(LoopWatchTest, AWorkerMayBeBusy) {
  loop(3).Hang();
  simulator_.RunFor(seconds(60));
  EXPECT_EQ(StateOf(3), "busy");
  EXPECT_EQ(StalledCount(), 0u);
  EXPECT_TRUE(watch_.CanServe(now()));
}

// A task that was posted before the suspension is answered late, which proves no hang.
TEST_F(LoopWatchTest, ASuspendedProcessHasNoStalledLoop) {
  simulator_.RunFor(milliseconds(3 * kLoopBeat / milliseconds(1)));
  for (const auto& one : loops_) one->Hang();
  simulator_.RunFor(seconds(30));
  loop(0).GoOn();  // first, while the others still hang
  simulator_.RunFor(milliseconds(1));
  EXPECT_EQ(StalledCount(), 0u);
  for (const auto& one : loops_) one->GoOn();
  simulator_.RunFor(seconds(3));
  EXPECT_EQ(StalledCount(), 0u);
}

TEST_F(LoopWatchTest, NothingIsStalledAfterTheStop) {
  loop(2).Hang();
  simulator_.RunFor(seconds(3));
  ASSERT_EQ(StalledCount(), 1u);
  watch_.Stop();
  EXPECT_EQ(StalledCount(), 0u);
  simulator_.RunFor(seconds(3));
}

TEST_F(LoopWatchTest, TheLongestTurnIsForgottenAfterTwoPeriods) {
  loop(2).Hang();
  simulator_.RunFor(seconds(5));
  loop(2).GoOn();
  simulator_.RunFor(seconds(1));
  double longest = 0;
  const auto read = [&] {
    loop(1).Post([&] {
      longest =
          metrics_.Value("neptune_loop_longest_turn_seconds", {{"loop", "serve-0"}}).value_or(-1);
    });
    simulator_.RunFor(milliseconds(1));
    return longest;
  };
  EXPECT_GT(read(), 4.5);
  simulator_.RunFor(2 * kLongestDelayPeriod + seconds(1));
  EXPECT_EQ(read(), 0);
}

}  // namespace
}  // namespace neptune
