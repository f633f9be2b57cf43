#include "neptune/base/disk_room.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using Level = DiskRoom::Level;

constexpr uint64_t kReserve = 1000;
constexpr uint64_t kTotal = 1'000'000;

TEST(DiskRoomTest, LevelsBeginAtTheirMarks) {
  DiskRoom room(kReserve);
  EXPECT_EQ(room.level(), Level::kAmple);
  const struct {
    uint64_t free;
    Level level;
  } steps[] = {{2000, Level::kAmple}, {1999, Level::kLow},    {1000, Level::kLow},
               {999, Level::kFull},   {500, Level::kFull},    {499, Level::kCritical},
               {0, Level::kCritical}, {kTotal, Level::kAmple}};
  for (const auto& [free, level] : steps) {
    const bool changes = room.level() != level;
    EXPECT_EQ(room.Update({kTotal, free}), changes) << free;
    EXPECT_EQ(room.level(), level) << free;
    EXPECT_EQ(room.free(), free);
  }
}

TEST(DiskRoomTest, EachLevelStopsMore) {
  DiskRoom room(kReserve);
  EXPECT_TRUE(room.may_log());
  room.Update({kTotal, 1500});
  EXPECT_FALSE(room.may_log());
  EXPECT_TRUE(room.CheckWrite().ok());
  room.Update({kTotal, 700});
  EXPECT_EQ(room.CheckWrite().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(room.refused_count(), 1u);
  EXPECT_TRUE(room.may_follow());
  room.Update({kTotal, 100});
  EXPECT_FALSE(room.may_follow());
}

TEST(DiskRoomTest, AStepIsTakenBackOnlyAboveItsMark) {
  DiskRoom room(kReserve);
  room.Update({kTotal, 900});
  room.Update({kTotal, 1124});
  EXPECT_EQ(room.level(), Level::kFull);
  room.Update({kTotal, 1125});
  EXPECT_EQ(room.level(), Level::kLow);
  room.Update({kTotal, 1000});
  EXPECT_EQ(room.level(), Level::kLow);
  room.Update({kTotal, 2249});
  EXPECT_EQ(room.level(), Level::kLow);
  room.Update({kTotal, 2250});
  EXPECT_EQ(room.level(), Level::kAmple);
}

TEST(DiskRoomTest, DefaultReserveFollowsTheDisk) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  DiskRoom room;
  room.Update({100 * kGiB, 50 * kGiB});
  EXPECT_EQ(room.reserve(), kGiB);
  room.Update({10 * kGiB, 5 * kGiB});
  EXPECT_EQ(room.reserve(), DiskRoom::kReserveMin);
  room.Update({kGiB, kGiB / 2});
  EXPECT_EQ(room.reserve(), kGiB / 10);
  EXPECT_EQ(room.level(), Level::kAmple);
}

TEST(DiskRoomTest, AnUnboundedDiskIsAmple) {
  DiskRoom room;
  room.Update({});
  EXPECT_EQ(room.level(), Level::kAmple);
}

}  // namespace
}  // namespace neptune
