#include "neptune/wire/connection_choice.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::seconds;

TimePoint At(int second) { return TimePoint() + seconds(1000 + second); }

ConnectionStanding Idle(bool was_used, int last_frame) {
  return {.is_idle = true, .was_used = was_used, .last_frame_at = At(last_frame)};
}
ConnectionStanding Busy(int last_frame) {
  return {.is_idle = false, .was_used = true, .last_frame_at = At(last_frame)};
}
ConnectionStanding Unread(size_t size, int progress) {
  return {.was_used = true, .unsent_size = size, .progress_at = At(progress)};
}

TEST(ChooseIdleTest, TakesTheOneIdleForTheLongestTime) {
  EXPECT_EQ(ChooseIdle({Idle(true, 5), Idle(true, 3), Idle(true, 4)}), 1u);
}

TEST(ChooseIdleTest, TakesTheFirstOfEqualOnes) {
  EXPECT_EQ(ChooseIdle({Busy(1), Idle(true, 3), Idle(true, 3)}), 1u);
}

TEST(ChooseIdleTest, TakesOnesNeverUsedBeforeOlderOnes) {
  EXPECT_EQ(ChooseIdle({Idle(true, 1), Idle(false, 9), Idle(false, 8)}), 2u);
}

TEST(ChooseIdleTest, NeverTakesABusyOne) {
  EXPECT_EQ(ChooseIdle({Busy(0), Idle(true, 9)}), 1u);
  EXPECT_EQ(ChooseIdle({Busy(0), Busy(1)}), std::nullopt);
  EXPECT_EQ(ChooseIdle({}), std::nullopt);
}

TEST(ChooseStalledTest, TakesTheMostUnsentBytesAmongThoseThatReadNothing) {
  EXPECT_EQ(ChooseStalled({Unread(10, 0), Unread(30, 1), Unread(20, 0)}, At(10), seconds(2)), 1u);
}

TEST(ChooseStalledTest, SparesPeersThatRead) {
  EXPECT_EQ(ChooseStalled({Unread(10, 0), Unread(99, 9)}, At(10), seconds(2)), 0u);
  EXPECT_EQ(ChooseStalled({Unread(99, 9)}, At(10), seconds(2)), std::nullopt);
}

TEST(ChooseStalledTest, TakesTheLongestStalledOfEqualOnes) {
  EXPECT_EQ(ChooseStalled({Unread(10, 3), Unread(10, 1), Unread(10, 2)}, At(10), seconds(2)), 1u);
}

TEST(ChooseStalledTest, SparesConnectionsWithoutUnsentBytes) {
  EXPECT_EQ(ChooseStalled({Unread(0, 0)}, At(10), seconds(2)), std::nullopt);
}

}  // namespace
}  // namespace neptune
