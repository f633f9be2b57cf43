// Calls that enter a capsule without its lock: they are bounded and counted as all others.

#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "neptune/capsule/capsule_permit.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class QuickPlacesTest : public testing::Test {
 protected:
  CapsuleConfig Config(size_t resident_count_max) {
    CapsuleConfig config;
    config.name = "index";
    config.rules = {*ClassificationRule::Parse("service:index")};
    config.type = ResourceType::kNetwork;
    config.limits.resident_count_max = resident_count_max;
    config.limits.timeout = seconds(3);
    return config;
  }
  void Create(size_t resident_count_max) {
    ASSERT_TRUE(stack_.Create(Config(resident_count_max)).ok());
  }

  using Permits = std::list<CapsulePermit>;
  // Enters; false: it was refused.
  bool Enter(Permits& permits, TimePoint now = kStart) {
    const Status status = permits.emplace_back().Enter(
        stack_, NetworkOperation{.service = "index", .partition = PartitionId(3)}, {.now = now});
    if (status.ok()) return true;
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status;
    permits.pop_back();
    return false;
  }
  static void Leave(Permits& permits, CapsuleOutcome outcome = CapsuleOutcome::kDone,
                    TimePoint now = kStart) {
    permits.front().Leave(outcome, now);
    permits.pop_front();
  }
  size_t Fill(Permits& permits) {
    size_t count = 0;
    while (Enter(permits)) ++count;
    return count;
  }
  CapsuleStatistics Statistics() { return stack_.Named("index")->Inspect(kStart); }

  static constexpr TimePoint kStart{seconds(100)};
  CapsuleStack stack_;
};

TEST_F(QuickPlacesTest, OneThreadMayUseAllPlaces) {
  Create(1000);
  Permits permits;
  EXPECT_EQ(Fill(permits), 1000u);
  EXPECT_EQ(Statistics().control.resident_count, 1000u);
  EXPECT_EQ(Statistics().processing_count, 1000u);
  EXPECT_EQ(Statistics().control.resident_count_max, 1000u);
  while (!permits.empty()) Leave(permits);
  EXPECT_EQ(Statistics().control.resident_count, 0u);
  EXPECT_EQ(Fill(permits), 1000u);
  while (!permits.empty()) Leave(permits);
}

TEST_F(QuickPlacesTest, TimeoutIsThatOfTheCapsule) {
  Create(1000);
  for (int i = 0; i < 2; ++i) {
    CapsulePermit permit;
    const NetworkOperation operation{.service = "index", .partition = PartitionId(3)};
    ASSERT_TRUE(permit.Enter(stack_, operation, {.now = kStart}).ok());
    EXPECT_EQ(permit.deadline(), kStart + seconds(3));
    EXPECT_TRUE(permit.limited_by_capsule());
    permit.Leave(CapsuleOutcome::kDone, kStart);
    const TimePoint sooner = kStart + seconds(1);
    ASSERT_TRUE(permit.Enter(stack_, operation, {.deadline = sooner, .now = kStart}).ok());
    EXPECT_EQ(permit.deadline(), sooner);
    EXPECT_FALSE(permit.limited_by_capsule());
    permit.Leave(CapsuleOutcome::kDone, kStart);
  }
}

TEST_F(QuickPlacesTest, EveryCallIsCounted) {
  Create(200);  // one lease of 32 places, and others under the lock
  Permits permits;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Enter(permits));
  const TimePoint end = kStart + milliseconds(20);
  for (int i = 0; i < 10; ++i) Leave(permits, CapsuleOutcome::kFailed, end);
  for (int i = 0; i < 5; ++i) Leave(permits, CapsuleOutcome::kTimedOut, end);
  for (int i = 0; i < 3; ++i) Leave(permits, CapsuleOutcome::kCancelled, end);
  while (!permits.empty()) Leave(permits, CapsuleOutcome::kDone, end);
  const CapsuleStatistics statistics = Statistics();
  EXPECT_EQ(statistics.control.entered, 100u);
  EXPECT_EQ(statistics.control.failed, 10u);
  EXPECT_EQ(statistics.control.timed_out, 5u);
  EXPECT_EQ(statistics.control.cancelled, 3u);
  EXPECT_EQ(statistics.control.done, 82u);
  EXPECT_EQ(statistics.control.mean_time, milliseconds(20));
  EXPECT_EQ(statistics.tail_time, milliseconds(20));
}

TEST_F(QuickPlacesTest, AgesAreThoseOfAllCallsInside) {
  Create(1000);
  Permits permits;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Enter(permits, kStart - milliseconds(30)));
  EXPECT_EQ(Statistics().mean_age, milliseconds(30));
  while (!permits.empty()) Leave(permits);
}

TEST_F(QuickPlacesTest, CallsInsideCountAfterAChange) {
  Create(1000);
  Permits permits;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Enter(permits));
  CapsuleConfig config = Config(1000);
  config.limits.throttle_count = 25;
  ASSERT_TRUE(stack_.Change(config).ok());
  EXPECT_EQ(Fill(permits), 5u);
  for (int i = 0; i < 20; ++i) Leave(permits);
  EXPECT_EQ(Fill(permits), 20u);
  while (!permits.empty()) Leave(permits);
  EXPECT_EQ(Statistics().control.entered, 45u);
  EXPECT_EQ(Statistics().control.resident_count, 0u);
}

TEST_F(QuickPlacesTest, ACapsuleThatWasDestroyedLivesUntilTheCallsInsideHaveLeft) {
  Create(1000);
  Permits inside;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Enter(inside));
  const std::weak_ptr<Capsule> capsule = stack_.Named("index");
  ASSERT_TRUE(stack_.Destroy("index").ok());
  Permits later;
  for (int i = 0; i < 3; ++i) {  // each change makes this thread fetch the stack
    CapsuleConfig other = Config(1000);
    other.name = "other";
    ASSERT_TRUE(stack_.Create(other).ok());
    ASSERT_TRUE(Enter(later));
    EXPECT_EQ(later.back().capsule()->name(), "other");
    ASSERT_TRUE(stack_.Destroy("other").ok());
  }
  ASSERT_FALSE(capsule.expired());
  EXPECT_EQ(capsule.lock()->Inspect(kStart).control.resident_count, 3u);
  while (!inside.empty()) Leave(inside);
  while (!later.empty()) Leave(later);
  Create(10);
  ASSERT_TRUE(stack_.Destroy("index").ok());  // also releases what is empty by now
  EXPECT_EQ(stack_.Named("index"), nullptr);
  EXPECT_TRUE(capsule.expired());
}

TEST_F(QuickPlacesTest, ACallMayEndAfterItsThread) {
  Create(1000);
  Permits permits;
  std::thread([&] { ASSERT_TRUE(Enter(permits)); }).join();
  ASSERT_TRUE(stack_.Destroy("index").ok());
  permits.front().Leave(CapsuleOutcome::kCancelled, kStart);
  EXPECT_FALSE(permits.front().inside());
  permits.pop_front();
}

// Many threads enter and leave at random: never are more inside than the bound, nothing is lost,
// and at least three quarters of the places are open to any thread.
TEST_F(QuickPlacesTest, BoundHoldsOverAllThreads) {
  constexpr size_t kBound = 256;
  constexpr int kThreadCount = 8;
  constexpr int kRoundCount = 20'000;
  Create(kBound);
  std::atomic<int64_t> inside{0};
  std::atomic<int64_t> most{0};
  std::atomic<uint64_t> entered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreadCount; ++i) {
    threads.emplace_back([&, i] {
      RandomSource random(static_cast<uint64_t>(i) + 1);
      Permits permits;
      for (int round = 0; round < kRoundCount; ++round) {
        if (permits.empty() || random.Below(5) < 3) {
          if (!Enter(permits)) continue;
          const int64_t now_inside = ++inside;
          int64_t seen = most.load();
          while (now_inside > seen && !most.compare_exchange_weak(seen, now_inside)) {
          }
          ++entered;
        } else {
          --inside;
          Leave(permits);
        }
      }
      for (; !permits.empty(); Leave(permits)) --inside;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most.load(), static_cast<int64_t>(kBound));
  EXPECT_EQ(Statistics().control.entered, entered.load());
  EXPECT_EQ(Statistics().control.resident_count, 0u);
  Permits permits;
  EXPECT_GE(Fill(permits), kBound * 3 / 4);
  while (!permits.empty()) Leave(permits);
}

}  // namespace
}  // namespace neptune
