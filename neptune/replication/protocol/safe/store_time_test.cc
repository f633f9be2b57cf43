#include "neptune/replication/protocol/safe/store_time.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(StoreTimeTest, GrowsAtOnceAndShrinksSlowly) {
  StoreTime time;
  EXPECT_EQ(time.typical(), Duration(0));
  time.Note(milliseconds(400));
  EXPECT_EQ(time.typical(), milliseconds(400));
  time.Note(milliseconds(0));
  EXPECT_EQ(time.typical(), milliseconds(350));
  for (int i = 0; i < 60; ++i) time.Note(milliseconds(1));
  EXPECT_LT(time.typical(), milliseconds(2));
  EXPECT_GE(time.typical(), milliseconds(1));
}

TEST(StoreTimeTest, IsBoundedForADiskThatHangs) {
  StoreTime time;
  time.Note(seconds(100));
  EXPECT_EQ(time.typical(), seconds(1));
}

}  // namespace
}  // namespace neptune
