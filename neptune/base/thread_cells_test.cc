#include "neptune/base/thread_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/notification.h"

namespace neptune {
namespace {

TEST(ThreadCellsTest, SumsWhatAllThreadsHaveAdded) {
  constexpr size_t kCellCount = 20;
  constexpr size_t kThreadCount = 100;  // some have no cells of their own
  ThreadCells cells(kCellCount);
  Notification go;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreadCount; ++i) {
    threads.emplace_back([&] {
      go.WaitForNotification();
      for (int round = 0; round < 1000; ++round) {
        for (size_t cell = 0; cell < kCellCount; ++cell) cells.Add(cell, cell);
      }
    });
  }
  go.Notify();
  for (std::thread& thread : threads) thread.join();
  for (size_t cell = 0; cell < kCellCount; ++cell) {
    EXPECT_EQ(cells.Sum(cell), kThreadCount * 1000 * cell);
  }
}

TEST(ThreadCellsTest, SeveralAdditionsOfAThreadGoToItsOwnCells) {
  ThreadCells cells(20);
  const ThreadCells::Own own = cells.OfThisThread();
  for (size_t cell = 0; cell < 20; ++cell) own.Add(cell, cell);
  std::thread([&] { cells.Add(19, 100); }).join();
  own.Add(19);
  EXPECT_EQ(cells.Sum(7), 7u);
  EXPECT_EQ(cells.Sum(19), 120u);
}

TEST(ThreadCellsTest, LivingThreadsHaveNumbersOfTheirOwn) {
  const size_t own = ThreadNumber();
  EXPECT_EQ(ThreadNumber(), own);
  LeafMutex mutex;
  std::multiset<size_t> numbers = {own};
  Notification end;
  std::vector<std::thread> threads;
  std::atomic<size_t> left{2 * kThreadNumberCount};
  Notification all_there;
  for (size_t i = 0; i < 2 * kThreadNumberCount; ++i) {
    threads.emplace_back([&] {
      {
        LeafLock lock(&mutex);
        numbers.insert(ThreadNumber());
      }
      if (--left == 0) all_there.Notify();
      end.WaitForNotification();
    });
  }
  all_there.WaitForNotification();
  for (size_t number = 0; number < kThreadNumberCount; ++number) {
    EXPECT_EQ(numbers.count(number), 1u) << number;
  }
  EXPECT_EQ(numbers.count(kThreadNumberCount), kThreadNumberCount + 1) << "the others share cells";
  end.Notify();
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadCellsTest, ANumberIsUsedAgainAndItsCountsStay) {
  ThreadCells cells(1);
  std::set<size_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    std::thread([&] {
      numbers.insert(ThreadNumber());
      cells.Add(0);
    }).join();
  }
  EXPECT_EQ(numbers.size(), 1u);
  EXPECT_EQ(cells.Sum(0), 1000u);
}

}  // namespace
}  // namespace neptune
