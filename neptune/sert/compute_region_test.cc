// Code that never asks is ended, and only where it may be.

#include "neptune/sert/compute_region.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

// Interrupts a region repeatedly while it lives; one that waits, from AwaitMore on.
class Interrupter {
 public:
  enum class Begin { kAtOnce, kWaits };
  explicit Interrupter(ComputeRegion& region, Begin begin = Begin::kAtOnce)
      : goes_(begin == Begin::kAtOnce), thread_([this, &region] {
          while (!done_) {
            sched_yield();
            if (!goes_) continue;
            region.Interrupt();
            ++count_;
          }
        }) {}
  ~Interrupter() {
    done_ = true;
    thread_.join();
  }
  // Returns once it interrupted that often more.
  void AwaitMore(uint64_t count) {
    goes_ = true;
    for (const uint64_t end = count_ + count; count_ < end;) {
    }
  }

 private:
  std::atomic<bool> goes_;
  std::atomic<bool> done_{false};
  std::atomic<uint64_t> count_{0};
  std::thread thread_;
};

void NeverAsk() {
  volatile uint64_t sum = 0;
  while (true) sum = sum * 31 + 7;
}

TEST(ComputeRegionTest, ABodyThatEndsIsDone) {
  ComputeRegion region;
  std::pmr::vector<int>* kept = nullptr;
  int sum = 0;
  EXPECT_TRUE(region.Run([&](ComputeMemory& memory) {
    kept = new (memory.allocate(sizeof(*kept))) std::pmr::vector<int>({1, 2, 3}, &memory);
    for (const int number : *kept) sum += number;
  }));
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(kept->back(), 3) << "its memory stays as long as the region";
}

TEST(ComputeRegionTest, CodeThatNeverAsksIsEnded) {
  ComputeRegion region;
  Interrupter interrupter(region);
  for (int i = 0; i < 100; ++i) {
    volatile int begun = 0;
    EXPECT_FALSE(region.Run([&](ComputeMemory&) {
      begun = 1;
      NeverAsk();
    }));
  }
}

TEST(ComputeRegionTest, ItsMemoryIsGoneAndWhole) {
  ComputeRegion region;
  Interrupter interrupter(region);
  const ComputeMemory* its_memory = nullptr;
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(region.Run([&](ComputeMemory& memory) {
      its_memory = &memory;
      while (true) {
        std::pmr::vector<std::pmr::string> strings(&memory);
        for (int k = 0; k < 50; ++k) strings.emplace_back(static_cast<size_t>(40 * k), 's');
      }
    }));
    if (its_memory != nullptr) {
      ASSERT_EQ(its_memory->held_size(), 0u);
    }
  }
}

TEST(ComputeRegionTest, NotInCodeOfAnotherLibrary) {
  ComputeRegion region;
  bool came_back = false;
  EXPECT_FALSE(region.Run([&](ComputeMemory& memory) {
    region.Interrupt();  // the signal comes while the C library makes the system call
    came_back = region.asked();
    memory.deallocate(memory.allocate(8), 8);
    came_back = false;
  }));
  EXPECT_TRUE(came_back) << "ended at the allocation's end, not before and not later";
}

TEST(ComputeRegionTest, NotOutside) {
  ComputeRegion region;
  Interrupter interrupter(region);
  int stage = 0;
  EXPECT_FALSE(region.Run([&](ComputeMemory&) {
    ComputeRegion::Outside first;  // of many: it may be ended before the first
    {
      const ComputeRegion::Outside outside;
      interrupter.AwaitMore(20);
      stage = 1;
    }
    stage = 2;
    interrupter.AwaitMore(20);
    stage = 3;
  })) << "at the end of the outer one";
  EXPECT_TRUE(stage == 3 || stage == 0) << stage;
}

TEST(ComputeRegionTest, NotWhileALockIsHeld) {
  ComputeRegion region;
  LeafMutex mutex;
  for (int i = 0; i < 5; ++i) {
    Interrupter interrupter(region);
    bool held = false;
    EXPECT_FALSE(region.Run([&](ComputeMemory&) {
      {
        const ComputeRegion::Outside outside;
        mutex.Lock();
        held = true;
      }
      interrupter.AwaitMore(20);
      {
        const ComputeRegion::Outside outside;
        held = false;
        mutex.Unlock();
      }
      NeverAsk();
    }));
    EXPECT_FALSE(held);
  }
  EXPECT_FALSE(LeafMutex::HeldByThisThread());
  LeafLock lock(&mutex);
}

TEST(ComputeRegionTest, SignalForAnEarlierRunIsIgnored) {
  ComputeRegion region;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  EXPECT_TRUE(region.Run([&](ComputeMemory&) {
    pthread_sigmask(SIG_BLOCK, &all, &before);
    region.Interrupt();  // it waits
  }));
  bool asked = true;
  EXPECT_TRUE(region.Run([&](ComputeMemory&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    asked = region.asked();
  }));
  EXPECT_FALSE(asked);
}

// Even where another region lies at the same address.
TEST(ComputeRegionTest, SignalForADestroyedRegionIsIgnored) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  std::optional<ComputeRegion> region;
  EXPECT_TRUE(region.emplace().Run([&](ComputeMemory&) {
    pthread_sigmask(SIG_BLOCK, &all, &before);
    region->Interrupt();
  }));
  region.reset();
  bool asked = true;
  EXPECT_TRUE(region.emplace().Run([&](ComputeMemory&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    asked = region->asked();
  }));
  EXPECT_FALSE(asked);
}

TEST(ComputeRegionTest, NotAfterItHasCome) {
  ComputeRegion region;
  std::pmr::string* kept = nullptr;
  EXPECT_TRUE(region.Run([&](ComputeMemory& memory) {
    kept = new (memory.allocate(sizeof(*kept))) std::pmr::string(1000, 'k', &memory);
    region.Interrupt();  // noted, and its body ends before it is taken
  }));
  EXPECT_TRUE(region.asked());
  kept->clear();
  kept->shrink_to_fit();  // what would be the end of the run, were it still running
  EXPECT_TRUE(kept->empty());
}

TEST(ComputeRegionTest, ARunIsEndedOnTheKernelThreadThatRunsIt) {
  ComputeRegion region;
  EXPECT_TRUE(region.Run([](ComputeMemory&) {}));
  bool done = true;
  std::thread([&] {
    Interrupter interrupter(region, Interrupter::Begin::kWaits);
    done = region.Run([&](ComputeMemory&) { interrupter.AwaitMore(50); });
  }).join();
  EXPECT_FALSE(done);
}

TEST(ComputeRegionDeathTest, RegionsDoNotNest) {
  EXPECT_DEATH(
      {
        ComputeRegion outer;
        ComputeRegion inner;
        outer.Run([&](ComputeMemory&) { inner.Run([](ComputeMemory&) {}); });
      },
      "do not nest");
}

TEST(ComputeRegionDeathTest, RegionMayNotBeginWhileALockIsHeld) {
  EXPECT_DEATH(
      {
        LeafMutex mutex;
        LeafLock lock(&mutex);
        ComputeRegion().Run([](ComputeMemory&) {});
      },
      "LeafMutex is held");
}

// Threads of one scheduler in a simulated world, on the kernel thread of the test.
class ParkedRegionTest : public testing::Test {
 protected:
  ParkedRegionTest() : loop_(**simulator_.AddHost({.name = "host"}).StartLoop({.name = "loop"})) {
    OnLoop([this] { scheduler_ = std::make_unique<ThreadScheduler>(loop_); });
  }
  ~ParkedRegionTest() override {
    OnLoop([this] { scheduler_.reset(); });
  }

  void OnLoop(Task task) {
    loop_.Post(std::move(task));
    simulator_.RunFor(std::chrono::milliseconds(1));
  }
  // A thread whose run parks, which no run should do, and then ends if it was not ended before.
  void StartRunThatParks() {
    OnLoop([this] {
      parked_ = *scheduler_->Spawn([this] {
        done_ = region_.Run([](ComputeMemory& memory) {
          this_thread::Park();
          memory.deallocate(memory.allocate(8), 8);
        });
        ended_ = true;
      });
    });
    ASSERT_FALSE(ended_);
  }
  // What was noted of the interruptions while it was parked is taken now.
  void ResumeAndExpectItsEnd() {
    EXPECT_TRUE(region_.asked());
    OnLoop([this] { parked_->Wake(); });
    EXPECT_TRUE(ended_);
    EXPECT_FALSE(done_);
  }

  Simulator simulator_{1};
  Loop& loop_;
  std::unique_ptr<ThreadScheduler> scheduler_;
  ComputeRegion region_;
  ThreadRef parked_;
  bool done_ = true;
  bool ended_ = false;
};

TEST_F(ParkedRegionTest, AnotherThreadIsNotEndedInItsPlace) {
  StartRunThatParks();
  bool other_done = false;
  OnLoop([&] {
    (void)*scheduler_->Spawn([&] {
      Interrupter(region_, Interrupter::Begin::kWaits).AwaitMore(50);
      other_done = true;
    });
  });
  EXPECT_TRUE(other_done);
  ResumeAndExpectItsEnd();
}

TEST_F(ParkedRegionTest, AnEventHandlerIsNotEndedInItsPlace) {
  StartRunThatParks();
  bool handled = false;
  OnLoop([&] {
    Interrupter(region_, Interrupter::Begin::kWaits).AwaitMore(50);
    handled = true;
  });
  EXPECT_TRUE(handled);
  ResumeAndExpectItsEnd();
}

using ParkedRegionDeathTest = ParkedRegionTest;

TEST_F(ParkedRegionDeathTest, AnotherRunMeanwhileIsABug) {
  StartRunThatParks();
  EXPECT_DEATH(
      OnLoop([&] { (void)*scheduler_->Spawn([] { ComputeRegion().Run([](ComputeMemory&) {}); }); }),
      "do not park");
  OnLoop([this] { parked_->Wake(); });
  EXPECT_TRUE(done_);
}

// Calls itself until little is left of the stack.
__attribute__((noinline)) int UseStack(const volatile char* low) {
  volatile char room[256];
  room[0] = 1;
  if (room - low > 2000) return UseStack(low) + room[0];
  volatile bool never_ends = true;
  while (never_ends) room[0] = static_cast<char>(room[0] + 1);
  return 0;
}

void* RunOnASmallStack(void* low) {
  ComputeRegion region;
  Interrupter interrupter(region);
  const bool ended =
      region.Run([&](ComputeMemory&) { UseStack(static_cast<const volatile char*>(low)); });
  return ended ? low : nullptr;
}

TEST(ComputeRegionTest, AlsoWhereLittleStackIsLeft) {
  constexpr size_t kSize = 256 * 1024;
  std::vector<char> stack(kSize + 4096);
  char* const low = stack.data() + (4096 - reinterpret_cast<uintptr_t>(stack.data()) % 4096);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstack(&attributes, low, kSize), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, &RunOnASmallStack, low), 0);
  void* result = low;
  pthread_join(thread, &result);
  EXPECT_EQ(result, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(ComputeRegionTest, AnExceptionPassesThrough) {
  ComputeRegion region;
  EXPECT_THROW(region.Run([](ComputeMemory&) { throw std::string("thrown"); }), std::string);
  EXPECT_TRUE(region.Run([](ComputeMemory&) {})) << "the region is as new";
}

TEST(ComputeRegionTest, NotWhileItsExceptionIsOnItsWay) {
  ComputeRegion region;
  Interrupter interrupter(region, Interrupter::Begin::kWaits);
  struct Passed {
    Interrupter& interrupter;
    ~Passed() { interrupter.AwaitMore(50); }
  };
  EXPECT_THROW(region.Run([&](ComputeMemory&) {
    const Passed passed{interrupter};
    throw std::string("thrown");
  }),
               std::string);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST(ComputeRegionTest, NotWhileItHandlesAnException) {
  ComputeRegion region;
  Interrupter interrupter(region, Interrupter::Begin::kWaits);
  bool handled = false;
  EXPECT_FALSE(region.Run([&](ComputeMemory&) {
    try {
      throw std::string("thrown");
    } catch (const std::string&) {
      interrupter.AwaitMore(50);
      handled = true;
    }
    NeverAsk();
  }));
  EXPECT_TRUE(handled);
  EXPECT_EQ(std::current_exception(), nullptr);
}

bool IsEnded() {
  ComputeRegion region;
  Interrupter interrupter(region, Interrupter::Begin::kWaits);
  return !region.Run([&](ComputeMemory&) { interrupter.AwaitMore(50); });
}

// The caller's own do not matter, and are as they were.
TEST(ComputeRegionTest, AlsoWhileTheCallerThrowsAndHandlesExceptions) {
  struct RunsWhenItGoes {
    ~RunsWhenItGoes() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      EXPECT_TRUE(IsEnded());
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
  };
  try {
    const RunsWhenItGoes region;
    throw std::string("thrown");
  } catch (const std::string& thrown) {
    EXPECT_TRUE(IsEnded());
    EXPECT_NE(std::current_exception(), nullptr);
    EXPECT_EQ(thrown, "thrown");
  }
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

}  // namespace
}  // namespace neptune
