// Code that never asks is ended, and only where it may be.

#include "neptune/sert/compute_region.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

#include "neptune/base/leaf_mutex.h"

namespace neptune {
namespace {

// Interrupts a region again and again while it lives.
class Interrupter {
 public:
  explicit Interrupter(ComputeRegion& region)
      : thread_([this, &region] {
          while (!done_) {
            region.Interrupt();
            ++count_;
            sched_yield();
          }
        }) {}
  ~Interrupter() {
    done_ = true;
    thread_.join();
  }
  // Returns once it interrupted that often more.
  void AwaitMore(uint64_t count) const {
    for (const uint64_t end = count_ + count; count_ < end;) {
    }
  }

 private:
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
  const Interrupter interrupter(region);
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
  const Interrupter interrupter(region);
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
  const Interrupter interrupter(region);
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
    const Interrupter interrupter(region);
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

TEST(ComputeRegionTest, ASignalForAnEarlierRunIsForNobody) {
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

// Goes on to call itself until little is left of the stack.
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
  const Interrupter interrupter(region);
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

}  // namespace
}  // namespace neptune
