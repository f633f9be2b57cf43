// Memory of 100,000 parked requests: user-level threads in a blocking read, and in a runtime park.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iostream>

#include "neptune/interpose/user_threads.h"

namespace neptune::interpose {
namespace {

constexpr int kCount = 100'000;
constexpr double kBytesMax = 8 * 1024;

size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t mapped = 0;
  size_t resident = 0;
  file >> mapped >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Starts the threads on the loop, each runs `wait`; returns the memory of each while all wait.
double BytesWhileWaiting(UserThreads& threads, const std::function<void()>& wait) {
  const size_t before = ResidentBytes();
  threads.OnLoop(0, [&] {
    for (int i = 0; i < kCount; ++i) ASSERT_TRUE(threads.scheduler().Spawn(wait).ok());
  });
  threads.OnLoop(0, [] {});  // runs after the turn in which all of them started
  EXPECT_EQ(threads.LiveCount(0), static_cast<size_t>(kCount));
  const double each = static_cast<double>(ResidentBytes() - before) / kCount;
  testing::Test::RecordProperty("resident_bytes_each", static_cast<int>(each));
  std::cout << each << " bytes each\n";
  return each;
}

const ThreadSchedulerOptions kRoom{.thread_count_max = kCount + 10};

TEST(ParkedMemoryTest, ParkedByTheRuntime) {
  UserThreads threads(1, kRoom);
  EXPECT_LE(
      BytesWhileWaiting(threads, [] { EXPECT_EQ(this_thread::Park(), ParkResult::kStopping); }),
      kBytesMax);
}

TEST(ParkedMemoryTest, ParkedInABlockingRead) {
  int ends[2] = {-1, -1};
  {
    UserThreads threads(1, kRoom);
    threads.Run({[&] { ASSERT_EQ(pipe(ends), 0); }});
    EXPECT_LE(BytesWhileWaiting(threads,
                                [&] {
                                  char byte;
                                  EXPECT_EQ(read(ends[0], &byte, 1), -1);
                                }),
              kBytesMax);
  }
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace neptune::interpose
