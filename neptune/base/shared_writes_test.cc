// The watch itself, and what must share no writes: counters and histograms.

#include "neptune/base/shared_writes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint64_t kRounds = 20;

std::vector<SharedWrites::Line> SharedBy(const std::function<void()>& work) {
  return SharedWrites::SharedByTwoThreads(work, kRounds);
}

class SharedWritesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!SharedWrites::IsSupported()) GTEST_SKIP() << "writes cannot be watched in this build";
  }
};

struct Words {
  std::atomic<uint64_t> first{0};
  std::atomic<uint64_t> second{0};
};

TEST_F(SharedWritesTest, FindsAWordThatTwoThreadsWrite) {
  SharedWrites::KeepAllocations(true);
  const auto words = std::make_unique<Words>();
  SharedWrites::KeepAllocations(false);
  const auto lines = SharedBy([&] { words->first.fetch_add(1); });
  ASSERT_EQ(lines.size(), 1u) << SharedWrites::Describe(lines);
  EXPECT_EQ(lines[0].address, reinterpret_cast<uintptr_t>(words.get()) / SharedWrites::kLineSize *
                                  SharedWrites::kLineSize);
  ASSERT_EQ(lines[0].write_count.size(), 2u);
  for (const auto& [thread, count] : lines[0].write_count) EXPECT_EQ(count, kRounds);
  EXPECT_EQ(words->first, 2 * (kRounds + 1)) << "the writes take effect";
}

TEST_F(SharedWritesTest, FindsWordsOfOneLine) {
  SharedWrites::KeepAllocations(true);
  struct alignas(64) Neighbours : Words {};
  const auto words = std::make_unique<Neighbours>();
  SharedWrites::KeepAllocations(false);
  std::atomic<int> turn{0};
  thread_local int mine = -1;
  const auto lines = SharedBy([&] {
    if (mine < 0) mine = turn++;
    (mine == 0 ? words->first : words->second).fetch_add(1);
  });
  EXPECT_EQ(lines.size(), 1u) << SharedWrites::Describe(lines);
}

TEST_F(SharedWritesTest, FindsALock) {
  SharedWrites::KeepAllocations(true);
  const auto mutex = std::make_unique<LeafMutex>();
  SharedWrites::KeepAllocations(false);
  EXPECT_GE(SharedBy([&] { LeafLock lock(mutex.get()); }).size(), 1u);
}

TEST_F(SharedWritesTest, MetricsShareNoWrites) {
  SharedWrites::KeepAllocations(true);
  const auto registry = std::make_unique<MetricsRegistry>();
  std::vector<Counter*> counters;
  for (int i = 0; i < 100; ++i) {
    counters.push_back(*registry->AddCounter("c_total", "C.", {{"i", StrCat(i)}}));
  }
  HistogramMetric* const histogram = *registry->AddHistogram("h_seconds", "H.");
  SharedWrites::KeepAllocations(false);
  const auto lines = SharedBy([&] {
    for (Counter* const counter : counters) counter->Increment();
    for (uint64_t value = 1; value < 1'000'000; value *= 3) histogram->Record(value);
  });
  EXPECT_TRUE(lines.empty()) << SharedWrites::Describe(lines);
  EXPECT_EQ(counters[7]->value(), 2 * (kRounds + 1));
}

}  // namespace
}  // namespace neptune
