#include "neptune/base/time_grid.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr Duration kInterval = milliseconds(100);

TimePoint At(Duration since_begin) { return TimePoint(since_begin); }

TEST(TimeGridTest, TheNextTimeIsAMultipleAndLater) {
  EXPECT_EQ(NextOnGrid(At(milliseconds(0)), kInterval), At(milliseconds(100)));
  EXPECT_EQ(NextOnGrid(At(milliseconds(99)), kInterval), At(milliseconds(100)));
  EXPECT_EQ(NextOnGrid(At(milliseconds(100)), kInterval), At(milliseconds(200)));
  EXPECT_EQ(NextOnGrid(At(milliseconds(100) + nanoseconds(1)), kInterval), At(milliseconds(200)));
  EXPECT_EQ(NextOnGrid(kNever - nanoseconds(1), kInterval), kNever);
}

TEST(TimeGridTest, TheLastTimeIsAMultipleAndNotLater) {
  EXPECT_EQ(LastOnGrid(At(milliseconds(99)), kInterval), At(milliseconds(0)));
  EXPECT_EQ(LastOnGrid(At(milliseconds(100)), kInterval), At(milliseconds(100)));
  EXPECT_EQ(LastOnGrid(At(milliseconds(299)), kInterval), At(milliseconds(200)));
}

// What is due every 100 ms and what is due every 200 ms is due together.
TEST(TimeGridTest, GridsOfMultiplesMeet) {
  for (const Duration now : {milliseconds(0), milliseconds(130), milliseconds(399)}) {
    const TimePoint next = NextOnGrid(At(now), 2 * kInterval);
    EXPECT_EQ(LastOnGrid(next, kInterval), next);
  }
}

}  // namespace
}  // namespace neptune
