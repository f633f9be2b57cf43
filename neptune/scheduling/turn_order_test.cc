#include "neptune/scheduling/turn_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <vector>

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kStart = TimePoint() + seconds(1);
constexpr TurnOptions kOptions = {
    .turn_min = microseconds(200), .wait_max = milliseconds(20), .slice = milliseconds(1)};

TEST(TurnOrderTest, TheShortestGoesFirst) {
  TurnOrder order(kOptions);
  order.Add(1, {.work_left = 500}, kStart);
  order.Add(2, {.work_left = 20}, kStart);
  order.Add(3, {.work_left = 100}, kStart);
  EXPECT_EQ(order.Next(kStart)->id, 2u);
  EXPECT_EQ(order.Next(kStart)->id, 3u);
  EXPECT_EQ(order.Next(kStart)->id, 1u);
  EXPECT_FALSE(order.Next(kStart).has_value());
}

TEST(TurnOrderTest, OfEqualOnesTheOneThatHasWaitedLongestGoesFirst) {
  TurnOrder order(kOptions);
  order.Add(1, {.work_left = 5}, kStart + milliseconds(1));
  order.Add(2, {.work_left = 5}, kStart);
  EXPECT_EQ(order.Next(kStart + milliseconds(2))->id, 2u);
}

TEST(TurnOrderTest, AnOverdueOneGetsASlice) {
  TurnOrder order(kOptions);
  order.Add(1, {.work_left = 500}, kStart);
  order.Add(2, {.work_left = 20}, kStart + milliseconds(19));
  const TimePoint now = kStart + milliseconds(20);
  EXPECT_TRUE(order.HasOverdue(now));
  const auto turn = order.Next(now);
  EXPECT_EQ(turn->id, 1u);
  EXPECT_EQ(turn->kept_until, now + milliseconds(1));
  EXPECT_FALSE(order.MustGiveWay({.work_left = 500}, turn->kept_until, TurnOrder::Beginner{}, now));
  EXPECT_TRUE(
      order.MustGiveWay({.work_left = 500}, turn->kept_until, std::nullopt, turn->kept_until));
  EXPECT_EQ(order.Next(now)->kept_until, now + microseconds(200)) << "not overdue";
}

TEST(TurnOrderTest, AHolderGivesWayToShorterOnesAndToWhatHasNotBegun) {
  TurnOrder order(kOptions);
  EXPECT_FALSE(order.MustGiveWay({.work_left = 100}, kStart, std::nullopt, kStart));
  EXPECT_TRUE(order.MustGiveWay({.work_left = 100}, kStart, TurnOrder::Beginner{}, kStart));
  order.Add(1, {.work_left = 100}, kStart);
  EXPECT_FALSE(order.MustGiveWay({.work_left = 100}, kStart, std::nullopt, kStart));
  EXPECT_TRUE(order.MustGiveWay({.work_left = 101}, kStart, std::nullopt, kStart));
  EXPECT_TRUE(order.MustGiveWay({.work_left = 1}, kStart, std::nullopt, kStart + milliseconds(20)));
}

TEST(TurnOrderTest, AnOwedHolderGivesWayToItsOwnGroupOnly) {
  TurnOrder order(kOptions);
  const TurnClaim owed = {.work_left = 100, .group = 1, .is_owed = true};
  EXPECT_FALSE(order.MustGiveWay(owed, kStart, TurnOrder::Beginner{.group = 2}, kStart));
  EXPECT_TRUE(order.MustGiveWay(owed, kStart, TurnOrder::Beginner{.group = 1}, kStart));
  order.Add(1, {.work_left = 1, .group = 2}, kStart);
  EXPECT_FALSE(order.MustGiveWay(owed, kStart, std::nullopt, kStart));
  EXPECT_TRUE(order.MustGiveWay(owed, kStart, std::nullopt, kStart + milliseconds(20)))
      << "overdue";
}

TEST(TurnOrderTest, AnOwedOneGoesBeforeShorterOnesOfOtherGroups) {
  TurnOrder order(kOptions);
  order.Add(1, {.work_left = 1, .group = 2}, kStart);
  order.Add(2, {.work_left = 100, .group = 1, .is_owed = true}, kStart);
  EXPECT_TRUE(order.MustGiveWay({.work_left = 1, .group = 2}, kStart, std::nullopt, kStart));
  EXPECT_EQ(order.Next(kStart)->id, 2u);
}

TEST(TurnOrderTest, MoreIsLeftOfWhatTakesLongerThanExpected) {
  EXPECT_EQ(WorkLeft(100, 30), 70u);
  EXPECT_EQ(WorkLeft(100, 100), 0u);
  EXPECT_EQ(WorkLeft(100, 400), 300u);
  EXPECT_EQ(WorkLeft(0, 50), 50u);
}

TEST(TurnOrderTest, WhoLeavesDoesNotGetATurn) {
  TurnOrder order(kOptions);
  order.Add(1, {.work_left = 1}, kStart);
  order.Add(2, {.work_left = 2}, kStart);
  EXPECT_TRUE(order.Remove(1));
  EXPECT_FALSE(order.Remove(1));
  EXPECT_EQ(order.Next(kStart)->id, 2u);
}

// One processor. Light work arrives at random; some heavy clients ask again as soon as they have
// their answer.
struct Load {
  int heavy_clients = 4;
  Duration heavy = milliseconds(50);
  Duration light = milliseconds(1);
  double light_share = 0.2;  // of the processor
};

struct Outcome {
  std::vector<Duration> light;  // from arrival to end
  std::vector<Duration> heavy;
  Duration wait_max{0};  // of a computation that has begun, between two turns

  static Duration Quantile(std::vector<Duration> values, double q) {
    std::sort(values.begin(), values.end());
    return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
  }
};

class Simulation {
 public:
  Simulation(const Load& load, bool takes_turns, uint32_t seed)
      : load_(load), takes_turns_(takes_turns), random_(seed) {}

  Outcome Run(Duration length) {
    for (int i = 0; i < load_.heavy_clients; ++i) Arrive(load_.heavy);
    for (now_ = kStart; now_ < kStart + length; now_ += kStretch) Step();
    return std::move(outcome_);
  }

 private:
  static constexpr Duration kStretch = microseconds(100);  // between two stop checks
  static constexpr size_t kPlaces = 12;

  struct Job {
    Duration whole{0};
    Duration done{0};
    TimePoint arrived;
    TimePoint suspended;
    uint64_t left() const {
      return WorkLeft(static_cast<uint64_t>(whole.count()), static_cast<uint64_t>(done.count()));
    }
  };

  void Arrive(Duration whole) {
    jobs_[++last_] = {.whole = whole, .arrived = now_};
    beginners_.push_back(last_);
  }

  // The pool of a service lets kPlaces begin.
  bool MayBegin() const {
    const size_t begun = jobs_.size() - beginners_.size();
    return !beginners_.empty() && begun < kPlaces;
  }

  void Step() {
    const double rate = load_.light_share * ToSeconds(kStretch) / ToSeconds(load_.light);
    if (std::uniform_real_distribution<>()(random_) < rate) Arrive(load_.light);
    if (holder_ != 0) MayGiveWay();
    if (holder_ == 0) Choose();
    if (holder_ == 0) return;
    Job& job = jobs_.at(holder_);
    job.done += kStretch;
    if (job.done >= job.whole) End(job);
  }

  void MayGiveWay() {
    if (!takes_turns_) return;
    const TurnClaim claim{.work_left = jobs_.at(holder_).left()};
    const auto beginner = MayBegin() ? std::optional(TurnOrder::Beginner{}) : std::nullopt;
    if (!order_.MustGiveWay(claim, kept_until_, beginner, now_)) return;
    jobs_.at(holder_).suspended = now_;
    order_.Add(holder_, claim, now_);
    holder_ = 0;
  }

  void Choose() {
    if (MayBegin() && !order_.HasOverdue(now_)) {
      holder_ = beginners_.front();
      beginners_.pop_front();
      kept_until_ = order_.KeptByBeginner(now_);
      return;
    }
    const auto turn = order_.Next(now_);
    if (!turn) return;
    holder_ = turn->id;
    kept_until_ = turn->kept_until;
    outcome_.wait_max = std::max(outcome_.wait_max, now_ - jobs_.at(holder_).suspended);
  }

  void End(const Job& job) {
    const bool is_heavy = job.whole == load_.heavy;
    (is_heavy ? outcome_.heavy : outcome_.light).push_back(now_ + kStretch - job.arrived);
    jobs_.erase(holder_);
    holder_ = 0;
    if (is_heavy) Arrive(load_.heavy);
  }

  const Load load_;
  const bool takes_turns_;
  std::mt19937 random_;
  TimePoint now_ = kStart;
  TurnOrder order_{kOptions};
  std::map<uint64_t, Job> jobs_;
  std::deque<uint64_t> beginners_;
  uint64_t last_ = 0;
  uint64_t holder_ = 0;
  TimePoint kept_until_;
  Outcome outcome_;
};

TEST(TurnOrderTest, LightWorkBesideHeavyWorkTakesHardlyLongerThanAlone) {
  for (const uint32_t seed : {1U, 2U, 3U}) {
    const Load beside;
    const Load alone{.heavy_clients = 0};
    const Outcome without = Simulation(alone, true, seed).Run(seconds(60));
    const Outcome fifo = Simulation(beside, false, seed).Run(seconds(60));
    const Outcome turns = Simulation(beside, true, seed).Run(seconds(60));
    const auto p50 = [](const Outcome& outcome) { return Outcome::Quantile(outcome.light, .5); };
    EXPECT_GE(p50(fifo), 20 * p50(without)) << "seed " << seed << ": the problem";
    EXPECT_LE(p50(turns), 2 * p50(without)) << "seed " << seed;
    EXPECT_LE(Outcome::Quantile(turns.light, .99), milliseconds(12)) << "seed " << seed;
    // The processor is never idle, so heavy work gets all the rest.
    EXPECT_GE(turns.heavy.size(), fifo.heavy.size() * 95 / 100) << "seed " << seed;
  }
}

// Light work alone would take more than the processor has.
TEST(TurnOrderTest, NoComputationWaitsLongerThanPromised) {
  for (const uint32_t seed : {1U, 2U, 3U}) {
    for (const int heavy : {1, 4, 8}) {
      const Load load{.heavy_clients = heavy, .light = microseconds(300), .light_share = 1.5};
      const Outcome outcome = Simulation(load, true, seed).Run(seconds(20));
      const Duration bound =
          kOptions.wait_max + 11 * kOptions.slice + kOptions.turn_min + microseconds(200);
      EXPECT_LE(outcome.wait_max, bound) << "seed " << seed << ", " << heavy << " clients";
      EXPECT_GE(outcome.heavy.size(), 5u) << "seed " << seed << ", " << heavy << " clients";
    }
  }
}

}  // namespace
}  // namespace neptune
