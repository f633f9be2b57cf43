#include "frontend/search_plan/index_watch.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kInterval(1000);

neptune::TimePoint At(int ms) { return neptune::TimePoint(milliseconds(5000 + ms)); }

TEST(IndexWatchTest, AnIndexThatDoesNotChangeIsNeverAskedForItsVersion) {
  IndexWatch watch(kInterval);
  EXPECT_EQ(watch.VersionAt(At(0)), 0U);
  watch.Learn({.version = 7}, At(0));
  EXPECT_EQ(watch.VersionAt(At(1'000'000)), 7U);
}

TEST(IndexWatchTest, OneQueryInAnIntervalAsksALiveIndex) {
  IndexWatch watch(kInterval);
  watch.Learn({.version = 7, .is_live = true}, At(0));
  EXPECT_EQ(watch.VersionAt(At(999)), 7U);
  EXPECT_EQ(watch.VersionAt(At(1000)), std::nullopt);
  EXPECT_EQ(watch.VersionAt(At(1001)), 7U);
  EXPECT_EQ(watch.VersionAt(At(2000)), std::nullopt);
  watch.Learn({.version = 8, .is_live = true}, At(2100));
  EXPECT_EQ(watch.VersionAt(At(3000)), 8U);
  EXPECT_EQ(watch.VersionAt(At(3100)), std::nullopt);
}

TEST(IndexWatchTest, AnEpochIsAVersionOfItsOwn) {
  EXPECT_EQ(StateOf(7, 0).version, 7U);
  EXPECT_FALSE(StateOf(7, 0).is_live);
  EXPECT_TRUE(StateOf(7, 1).is_live);
  EXPECT_NE(StateOf(7, 1).version, StateOf(7, 2).version);
  EXPECT_NE(StateOf(7, 1).version, StateOf(8, 1).version);
}

}  // namespace
}  // namespace search::frontend
