#include "neptune/world/sim/sim_processors.h"

#include <gtest/gtest.h>

#include <vector>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

TimePoint At(int64_t ms) { return TimePoint(milliseconds(ms)); }

// A host with one loop, and the completion times of the work, in the order of submission.
class SimProcessorsTest : public testing::Test {
 protected:
  void Use(const ProcessorOptions& options) {
    host_ = &simulator_.AddHost({.name = "a", .processors = options});
    loop_ = *host_->StartLoop({.name = "loop"});
  }

  void Execute(int64_t cost_ms) {
    const size_t index = ended_.size();
    ended_.push_back(TimePoint());
    host_->processors().Execute(*loop_, milliseconds(cost_ms),
                                [this, index] { ended_[index] = loop_->Now(); });
  }

  std::vector<TimePoint> Ends() {
    EXPECT_TRUE(simulator_.RunUntilIdle(At(1'000'000)));
    return ended_;
  }

  Simulator simulator_{1};
  SimWorld* host_ = nullptr;
  Loop* loop_ = nullptr;
  std::vector<TimePoint> ended_;
};

TEST_F(SimProcessorsTest, FifoServesInOrderToTheEnd) {
  Use({.count = 1});
  for (const int cost : {30, 10, 20}) Execute(cost);
  EXPECT_EQ(Ends(), (std::vector<TimePoint>{At(30), At(40), At(60)}));
}

TEST_F(SimProcessorsTest, EachProcessorServesItsOwn) {
  Use({.count = 2});
  for (const int cost : {30, 10, 10}) Execute(cost);
  EXPECT_EQ(Ends(), (std::vector<TimePoint>{At(30), At(10), At(20)}));
}

TEST_F(SimProcessorsTest, SpeedDividesTheCost) {
  Use({.count = 4, .speed = 1.25});
  Execute(25);
  EXPECT_EQ(Ends(), (std::vector<TimePoint>{At(20)}));
  EXPECT_EQ(host_->sim_processors().consumed(), milliseconds(25));
}

TEST_F(SimProcessorsTest, RoundRobinLetsShortWorkPassLongWork) {
  Use({.count = 1, .quantum = milliseconds(10)});
  Execute(100);
  Execute(10);
  // Long 0-10, short 10-20, long 20-110.
  EXPECT_EQ(Ends(), (std::vector<TimePoint>{At(110), At(20)}));
}

TEST_F(SimProcessorsTest, RoundRobinOfEqualWorkEndsInOrder) {
  Use({.count = 1, .quantum = milliseconds(5)});
  for (int i = 0; i < 3; ++i) Execute(10);
  // Two rounds of three quanta.
  EXPECT_EQ(Ends(), (std::vector<TimePoint>{At(20), At(25), At(30)}));
}

TEST_F(SimProcessorsTest, SpeedupServesAllPresentFaster) {
  // MTRR's G with alpha 1 up to two: two together progress twice as fast as one alone.
  Use({.count = 1, .quantum = milliseconds(1), .speedup = [](int m) {
         return m >= 2 ? 2.0 : 1.0;
       }});
  Execute(10);
  Execute(10);
  const std::vector<TimePoint> ends = Ends();
  // All but the last quantum is served at G(2): 19 ms of work take 9.5 ms, the last one takes 1 ms.
  EXPECT_EQ(ends[0], TimePoint(std::chrono::microseconds(9500)));
  EXPECT_EQ(ends[1], TimePoint(std::chrono::microseconds(10'500)));
}

TEST_F(SimProcessorsTest, SlowdownHitsWorkInService) {
  Use({.count = 1});
  Execute(20);
  simulator_.At(At(10), [this] { simulator_.SlowProcessors("a", 5); });
  // Half done at full speed, half at a fifth.
  EXPECT_EQ(Ends(), (std::vector<TimePoint>{At(60)}));
}

TEST_F(SimProcessorsTest, WorkStandsStillInAPause) {
  Use({.count = 1});
  Execute(20);
  simulator_.At(At(10), [this] { simulator_.Pause("a"); });
  simulator_.At(At(100), [this] { simulator_.Resume("a"); });
  EXPECT_EQ(Ends(), (std::vector<TimePoint>{At(110)}));
}

TEST_F(SimProcessorsTest, CrashForgetsWork) {
  Use({.count = 1});
  Execute(20);
  Execute(20);
  simulator_.At(At(10), [this] { simulator_.Crash("a"); });
  EXPECT_EQ(Ends(), (std::vector<TimePoint>{TimePoint(), TimePoint()}));
  EXPECT_EQ(host_->sim_processors().waiting_count(), 0);
  EXPECT_EQ(host_->sim_processors().consumed(), milliseconds(10));
}

TEST_F(SimProcessorsTest, WorkOfNoCostStillGoesThroughTheQueue) {
  Use({.count = 1});
  Execute(10);
  Execute(0);
  EXPECT_EQ(Ends(), (std::vector<TimePoint>{At(10), At(10)}));
}

}  // namespace
}  // namespace neptune
