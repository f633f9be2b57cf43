// Threads of both kinds that wait at an address for one another.

#include "neptune/interpose/pthread/parking_lot.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "neptune/interpose/user_threads.h"

namespace neptune::interpose {
namespace {

using std::chrono::milliseconds;

class ParkingLotTest : public testing::Test {
 protected:
  // Waits at `address_`; returns the token of the release, or -1 at the deadline.
  int Wait(int wish = 0, bool in_front = false, TimePoint deadline = kNever) {
    const auto wait = lot_.Wait(
        {.address = &address_, .wish = wish, .in_front = in_front, .until = {.deadline = deadline}},
        [this] {
          ++queued_count_;
          return true;
        });
    return wait.ended == ParkingLot::Ended::kLetGo ? wait.token : -1;
  }
  // Waits until `count` threads have queued.
  void AwaitQueued(int count) {
    while (queued_count_ < count) std::this_thread::yield();
  }
  void LetAllGo(int token) {
    lot_.AtAddress(&address_, [token](ParkingLot::Queue& queue) {
      while (!queue.empty()) queue.LetGo(queue.first(), token);
    });
  }

  ParkingLot lot_;
  const int address_ = 0;
  std::atomic<int> queued_count_{0};
};

TEST_F(ParkingLotTest, AKernelThreadLetsAUserThreadGo) {
  UserThreads threads;
  int token = 0;
  threads.Start(0, [&] { token = Wait(); });
  AwaitQueued(1);
  LetAllGo(7);
  threads.Wait();
  EXPECT_EQ(token, 7);
}

TEST_F(ParkingLotTest, AUserThreadLetsAKernelThreadGo) {
  UserThreads threads;
  threads.Start(0, [&] {
    while (queued_count_ == 0) this_thread::Yield();
    LetAllGo(9);
  });
  EXPECT_EQ(Wait(), 9);
  threads.Wait();
}

TEST_F(ParkingLotTest, ThreadsOfOneKernelThreadWaitForEachOther) {
  UserThreads threads;
  int token = 0;
  threads.Run({[&] { token = Wait(); }, [&] { LetAllGo(3); }});
  EXPECT_EQ(token, 3);
}

TEST_F(ParkingLotTest, TheFirstInTheQueueIsTheFirstThatCameOrThatWantedToBe) {
  UserThreads threads;
  for (const int wish : {1, 2, 3}) {
    threads.Start(0, [this, wish] { Wait(wish, /*in_front=*/wish == 3); });
    AwaitQueued(wish);
  }
  std::string order;
  lot_.AtAddress(&address_, [&](ParkingLot::Queue& queue) {
    for (auto* waiter = queue.first(); waiter != nullptr; waiter = queue.After(waiter)) {
      order += std::to_string(waiter->wish);
    }
  });
  LetAllGo(0);
  threads.Wait();
  EXPECT_EQ(order, "312");
}

TEST_F(ParkingLotTest, AWaitThatIsNoLongerNeededDoesNotBegin) {
  const auto wait = lot_.Wait({.address = &address_}, [] { return false; });
  EXPECT_EQ(wait.ended, ParkingLot::Ended::kNotBegun);
}

TEST_F(ParkingLotTest, DeadlinesEndTheWaitsOfBothKinds) {
  UserThreads threads;
  const TimePoint deadline = MonotonicNow() + milliseconds(5);
  int token = 0;
  threads.Start(0, [&] { token = Wait(0, false, deadline); });
  EXPECT_EQ(Wait(0, false, deadline), -1);
  EXPECT_GE(MonotonicNow(), deadline);
  threads.Wait();
  EXPECT_EQ(token, -1);
  EXPECT_TRUE(lot_.NobodyWaits(&address_));
}

TEST_F(ParkingLotTest, OthersAtOtherAddressesAreLeftAlone) {
  UserThreads threads;
  const int others[64] = {};
  for (const int& other : others) {
    threads.Start(0, [&] {
      lot_.Wait({.address = &other}, [this] {
        ++queued_count_;
        return true;
      });
    });
  }
  AwaitQueued(64);
  LetAllGo(0);
  int left_count = 0;
  for (const int& other : others) {
    lot_.AtAddress(&other, [&](ParkingLot::Queue& queue) {
      for (; !queue.empty(); ++left_count) queue.LetGo(queue.first(), 0);
    });
  }
  threads.Wait();
  EXPECT_EQ(left_count, 64);
}

// Each released unit reaches exactly one thread, even if the thread's deadline passes at that
// moment.
TEST_F(ParkingLotTest, NoPermitIsLostBetweenADeadlineAndARelease) {
  UserThreads threads(2);
  std::atomic<int> taken_count{0};
  std::atomic<int> waiting_count{4};
  int handed_count = 0;
  for (int i = 0; i < 4; ++i) {
    threads.Start(i % 2, [&] {
      for (int round = 0; round < 500; ++round) {
        if (Wait(0, false, MonotonicNow() + std::chrono::microseconds(20)) == 1) ++taken_count;
      }
      --waiting_count;
    });
  }
  while (waiting_count > 0) {
    lot_.AtAddress(&address_, [&](ParkingLot::Queue& queue) {
      if (queue.empty()) return;
      ++handed_count;
      queue.LetGo(queue.first(), 1);
    });
  }
  threads.Wait();
  EXPECT_EQ(taken_count, handed_count);
}

}  // namespace
}  // namespace neptune::interpose
