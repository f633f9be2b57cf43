#include "neptune/world/real/long_task.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(10)};
constexpr TimePoint kLong = kStart + kLongTaskMin;

TEST(LongTaskTest, AThreadThatWaitsNeverStepsBack) {
  LongTask task;
  EXPECT_TRUE(task.waits());
  EXPECT_FALSE(task.MustStepBack(kStart));
  task.Begin(kStart);
  EXPECT_FALSE(task.waits());
  task.Wait();
  EXPECT_TRUE(task.waits());
  EXPECT_FALSE(task.MustStepBack(kLong + seconds(1)));
}

TEST(LongTaskTest, ALongTaskStepsBackOnce) {
  LongTask task;
  task.Begin(kStart);
  EXPECT_FALSE(task.MustStepBack(kLong - nanoseconds(1)));
  EXPECT_TRUE(task.MustStepBack(kLong));
  task.StepBack();
  EXPECT_TRUE(task.has_stepped_back());
  EXPECT_FALSE(task.MustStepBack(kLong + seconds(1)));
  task.Return();
  EXPECT_FALSE(task.has_stepped_back());
}

// Many short ones in a row are not a long one.
TEST(LongTaskTest, EachTaskCountsFromItsOwnBegin) {
  LongTask task;
  for (TimePoint now = kStart; now < kStart + 10 * kLongTaskMin; now += kLongTaskMin / 4) {
    task.Begin(now);
    EXPECT_FALSE(task.MustStepBack(now + kLongTaskMin / 2));
  }
}

}  // namespace
}  // namespace neptune
