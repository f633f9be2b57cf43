#include "neptune/service/grain_watch.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;

constexpr Duration kShort = milliseconds(1);
constexpr Duration kLong = milliseconds(50);

TEST(GrainWatchTest, TwoLongRunsMakeAMethodLong) {
  GrainWatch watch;
  watch.OnRun(kLong);
  EXPECT_FALSE(watch.is_long()) << "it may have been interrupted";
  watch.OnRun(kLong);
  EXPECT_TRUE(watch.is_long());
}

TEST(GrainWatchTest, RareLongRunsDoNot) {
  GrainWatch watch;
  for (int i = 0; i < 100; ++i) {
    watch.OnRun(kLong);
    for (int j = 0; j < 4; ++j) watch.OnRun(kShort);
    ASSERT_FALSE(watch.is_long()) << i;
  }
}

TEST(GrainWatchTest, ItIsShortAgainAfterSomeShortRuns) {
  GrainWatch watch;
  for (int i = 0; i < 1000; ++i) watch.OnRun(kLong);
  ASSERT_TRUE(watch.is_long());
  int count = 0;
  while (watch.is_long()) {
    watch.OnRun(kShort);
    ASSERT_LT(++count, 20);
  }
  EXPECT_GT(count, 1);
}

TEST(GrainWatchTest, AShortRunIsUpToItsBound) {
  GrainWatch watch;
  for (int i = 0; i < 10; ++i) watch.OnRun(GrainWatch::kShortMax);
  EXPECT_FALSE(watch.is_long());
}

}  // namespace
}  // namespace neptune
