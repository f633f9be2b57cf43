#include "neptune/wire/http/refusal_hold.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint At(int milli) { return TimePoint() + milliseconds(100'000 + milli); }

class RefusalHoldTest : public testing::Test {
 protected:
  TimePoint Refuse(int milli, Duration retry_after = seconds(2)) {
    return hold_.SendAt(retry_after, At(milli), &asked_until_);
  }

  RefusalHold hold_{{.time_max = seconds(3), .count_max = 2}};
  TimePoint asked_until_;
};

TEST_F(RefusalHoldTest, TheFirstIsSentAtOnceAndOneThatComesTooSoonIsHeld) {
  EXPECT_EQ(Refuse(0), At(0));
  EXPECT_EQ(hold_.count(), 0u);
  EXPECT_EQ(Refuse(1999), At(3999));
  EXPECT_EQ(hold_.count(), 1u);
}

TEST_F(RefusalHoldTest, AClientThatWaitsAsAskedIsNotHeld) {
  Refuse(0);
  EXPECT_EQ(Refuse(2000), At(2000));
  EXPECT_EQ(Refuse(2001), At(4001));
  hold_.Release();
  EXPECT_EQ(Refuse(6001), At(6001)) << "two seconds after the held one was sent";
}

TEST_F(RefusalHoldTest, HoldsForALimitedTime) {
  Refuse(0, seconds(60));
  EXPECT_EQ(Refuse(1, seconds(60)), At(3001));
}

TEST_F(RefusalHoldTest, HoldsALimitedNumber) {
  Refuse(0);
  Refuse(1);
  Refuse(2);
  EXPECT_EQ(hold_.count(), 2u);
  EXPECT_EQ(Refuse(3), At(3));
  hold_.Release();
  EXPECT_EQ(Refuse(4), At(2004));
}

TEST_F(RefusalHoldTest, MayBeSwitchedOff) {
  RefusalHold never({.time_max = Duration(0), .count_max = 2});
  never.SendAt(seconds(1), At(0), &asked_until_);
  EXPECT_EQ(never.SendAt(seconds(1), At(1), &asked_until_), At(1));
}

}  // namespace
}  // namespace neptune
