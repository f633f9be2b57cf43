#include "neptune/replication/agent/scrub_pass.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr TimePoint kFirst = TimePoint(hours(1));

TEST(ScrubPassTest, GoesThroughTheDataPartByPart) {
  ScrubPass pass(hours(24), kFirst);
  EXPECT_EQ(pass.due(), kFirst);
  EXPECT_EQ(pass.next(), "");
  pass.Advance({.size = 10, .next = "k"}, kFirst, kFirst + seconds(1));
  EXPECT_EQ(pass.due(), kFirst + seconds(1));
  EXPECT_EQ(pass.next(), "k");
  EXPECT_EQ(pass.progress().pass_count, 0u);
  pass.Advance({.size = 5}, kFirst + seconds(1), kFirst + seconds(2));
  EXPECT_EQ(pass.next(), "");
  EXPECT_EQ(pass.progress().pass_count, 1u);
  EXPECT_EQ(pass.progress().checked_size, 15u);
  EXPECT_EQ(pass.progress().ended_at, kFirst + seconds(1));
}

TEST(ScrubPassTest, BeginsOncePerInterval) {
  ScrubPass pass(hours(24), kFirst);
  pass.Advance({.size = 10, .next = "k"}, kFirst, kFirst + seconds(1));
  pass.Advance({.size = 10}, kFirst + hours(2), kFirst + hours(2));
  EXPECT_EQ(pass.due(), kFirst + hours(24));
}

TEST(ScrubPassTest, GoesOnAtOnceIfAPassTookLongerThanTheInterval) {
  ScrubPass pass(hours(24), kFirst);
  pass.Advance({.size = 10, .next = "k"}, kFirst, kFirst + seconds(1));
  pass.Advance({.size = 10}, kFirst + hours(30), kFirst + hours(30) + seconds(1));
  EXPECT_EQ(pass.due(), kFirst + hours(30) + seconds(1));
}

TEST(ScrubPassTest, ReadsAPartAgainThatCouldNotBeRead) {
  ScrubPass pass(hours(24), kFirst);
  pass.Advance({.size = 10, .next = "k"}, kFirst, kFirst + seconds(1));
  pass.Postpone(kFirst + seconds(60));
  EXPECT_EQ(pass.due(), kFirst + seconds(60));
  EXPECT_EQ(pass.next(), "k");
  pass.Restart();
  EXPECT_EQ(pass.next(), "");
}

}  // namespace
}  // namespace neptune
