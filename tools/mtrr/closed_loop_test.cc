#include "tools/mtrr/closed_loop.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "neptune/world/sim/simulator.h"

namespace search::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Answers each request after the same time, as a server with enough threads.
class DelayedTarget final : public LoadTarget {
 public:
  explicit DelayedTarget(neptune::Loop& loop) : loop_(loop) {}

  bool Send(uint32_t request, const PlannedRequest&, RequestSink* sink) override {
    EXPECT_TRUE(under_way.insert(request).second) << "twice under way";
    most = std::max(most, under_way.size());
    loop_.RunAt(loop_.Now() + milliseconds(10), [this, request, sink] {
      if (under_way.erase(request) == 0) return;
      sink->Done(request, outcome, {});
    });
    return true;
  }
  void Abandon(uint32_t request) override { under_way.erase(request); }

  std::set<uint32_t> under_way;
  size_t most = 0;
  Outcome outcome = Outcome::kAnswered;

 private:
  neptune::Loop& loop_;
};

class ClosedLoopTest : public testing::Test {
 protected:
  ClosedLoopTest() {
    plan_.requests.resize(9);
    loop_ = *simulator_.AddHost({.name = "a"}).StartLoop({.name = "load"});
  }

  // Counts for a second after a tenth of one.
  ClosedLoopCounts Count(int at_once, Outcome outcome = Outcome::kAnswered) {
    DelayedTarget target(*loop_);
    target.outcome = outcome;
    ClosedLoop load(*loop_, plan_, target);
    ClosedLoopCounts counts;
    loop_->Post([&] { load.Start(at_once); });
    simulator_.RunFor(milliseconds(105));
    loop_->Post([&] { load.BeginCount(); });
    simulator_.RunFor(seconds(1));
    loop_->Post([&] {
      counts = load.EndCount();
      load.Stop();
    });
    simulator_.RunFor(milliseconds(100));
    EXPECT_EQ(target.most, static_cast<size_t>(at_once));
    EXPECT_TRUE(target.under_way.empty());
    return counts;
  }

  neptune::Simulator simulator_{1};
  neptune::Loop* loop_ = nullptr;
  ReplayPlan plan_;
};

TEST_F(ClosedLoopTest, AsManyAreUnderWayAsWereAskedFor) {
  for (const int at_once : {1, 3, 8}) {
    const ClosedLoopCounts counts = Count(at_once);
    EXPECT_EQ(counts.answered_count, static_cast<uint64_t>(100 * at_once));
    EXPECT_EQ(counts.failed_count, 0u);
    EXPECT_NEAR(counts.throughput(), 100 * at_once, 1);
  }
}

TEST_F(ClosedLoopTest, FailuresAreCountedAndFollowedByAPause) {
  const ClosedLoopCounts counts = Count(1, Outcome::kRejected);
  EXPECT_EQ(counts.answered_count, 0u);
  EXPECT_NEAR(static_cast<double>(counts.failed_count), 1000.0 / 15, 2);
}

TEST_F(ClosedLoopTest, DrainedIsOnceNothingIsUnderWay) {
  DelayedTarget target(*loop_);
  ClosedLoop load(*loop_, plan_, target);
  int drained = 0;
  loop_->Post([&] { load.Start(3); });
  simulator_.RunFor(milliseconds(15));
  loop_->Post([&] { load.Drain([&] { ++drained; }); });
  simulator_.RunFor(milliseconds(1));
  EXPECT_EQ(drained, 0);
  simulator_.RunFor(milliseconds(10));
  EXPECT_EQ(drained, 1);
  EXPECT_TRUE(target.under_way.empty());
  loop_->Post([&] { load.Drain([&] { ++drained; }); });
  simulator_.RunFor(milliseconds(1));
  EXPECT_EQ(drained, 2) << "at once if there is nothing";
}

}  // namespace
}  // namespace search::tools
