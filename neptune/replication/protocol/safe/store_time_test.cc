#include "neptune/replication/protocol/safe/store_time.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(100)};

TEST(StoreTimeTest, GrowsAtOnceAndShrinksWithEachStore) {
  StoreTime time;
  EXPECT_EQ(time.typical(kNow), Duration(0));
  time.Note(milliseconds(400), kNow);
  EXPECT_EQ(time.typical(kNow), milliseconds(400));
  time.Note(milliseconds(0), kNow);
  EXPECT_EQ(time.typical(kNow), milliseconds(350));
  for (int i = 0; i < 60; ++i) time.Note(milliseconds(1), kNow);
  EXPECT_LT(time.typical(kNow), milliseconds(2));
  EXPECT_GE(time.typical(kNow), milliseconds(1));
}

TEST(StoreTimeTest, IsForgottenWhereNothingIsStored) {
  StoreTime time;
  time.Note(milliseconds(400), kNow);
  EXPECT_EQ(time.typical(kNow + seconds(1)), milliseconds(400));
  EXPECT_EQ(time.typical(kNow + seconds(4)), milliseconds(100));
  EXPECT_EQ(time.typical(kNow + seconds(1000)), Duration(0));
  time.Note(milliseconds(100), kNow + seconds(4));
  EXPECT_EQ(time.typical(kNow + seconds(4)), milliseconds(100));
}

TEST(StoreTimeTest, IsBoundedForADiskThatHangs) {
  StoreTime time;
  time.Note(seconds(100), kNow);
  EXPECT_EQ(time.typical(kNow), seconds(1));
}

}  // namespace
}  // namespace neptune
