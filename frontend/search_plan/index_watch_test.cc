#include "frontend/search_plan/index_watch.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kInterval(1000);

neptune::TimePoint At(int ms) { return neptune::TimePoint(milliseconds(5000 + ms)); }

std::optional<uint64_t> VersionAt(IndexWatch& watch, int ms) {
  const std::optional<IndexState> known = watch.KnownAt(At(ms));
  return known.has_value() ? std::optional(known->version) : std::nullopt;
}

TEST(IndexWatchTest, AnIndexThatDoesNotChangeIsNeverAskedForItsVersion) {
  IndexWatch watch(kInterval);
  EXPECT_EQ(VersionAt(watch, 0), 0U);
  watch.Learn({.version = 7}, At(0));
  EXPECT_EQ(VersionAt(watch, 1'000'000), 7U);
}

TEST(IndexWatchTest, OneQueryInAnIntervalAsksALiveIndex) {
  IndexWatch watch(kInterval);
  watch.Learn({.version = 7, .epoch = 1}, At(0));
  EXPECT_EQ(VersionAt(watch, 999), 7U);
  EXPECT_EQ(VersionAt(watch, 1000), std::nullopt);
  EXPECT_EQ(VersionAt(watch, 1001), 7U);
  EXPECT_EQ(VersionAt(watch, 2000), std::nullopt);
  watch.Learn({.version = 8, .epoch = 2}, At(2100));
  EXPECT_EQ(VersionAt(watch, 3000), 8U);
  EXPECT_EQ(VersionAt(watch, 3100), std::nullopt);
}

TEST(IndexWatchTest, AnEntryOfTheNewestEpochIsValidAtAnyAge) {
  IndexWatch watch(kInterval);
  watch.Learn({.version = 7, .epoch = 5}, At(0));
  EXPECT_TRUE(watch.MayGive(5, std::chrono::hours(1)));
  watch.Learn({.version = 7, .epoch = 6}, At(10));
  EXPECT_FALSE(watch.MayGive(5, std::chrono::hours(1)));
}

TEST(IndexWatchTest, AnEpochIsKeptOnceItWasKnownForTheInterval) {
  IndexWatch watch(kInterval);
  watch.Learn({.version = 7, .epoch = 5}, At(0));
  EXPECT_EQ(watch.EpochToKeep(5, At(-10)), 0U);
  EXPECT_EQ(watch.EpochToKeep(5, At(999)), 0U);
  watch.Learn({.version = 7, .epoch = 5}, At(1000));
  EXPECT_EQ(watch.EpochToKeep(5, At(1000)), 5U);
  watch.Learn({.version = 7, .epoch = 6}, At(1500));  // from a replica that is ahead
  EXPECT_EQ(watch.EpochToKeep(5, At(2000)), 0U);
  watch.Learn({.version = 7, .epoch = 5}, At(2000));
  EXPECT_EQ(watch.EpochToKeep(5, At(2999)), 0U);
  EXPECT_EQ(watch.EpochToKeep(5, At(3000)), 5U);
  // An entry that was not settled is valid while it is young.
  EXPECT_TRUE(watch.MayGive(0, milliseconds(999)));
  EXPECT_FALSE(watch.MayGive(0, kInterval));
}

TEST(IndexWatchTest, AnEntryOfAnotherEpochIsValidWhileYoung) {
  IndexWatch watch(kInterval);
  watch.Learn({.version = 7, .epoch = 6}, At(0));
  EXPECT_TRUE(watch.MayGive(5, milliseconds(999)));
  EXPECT_FALSE(watch.MayGive(5, kInterval));
  EXPECT_FALSE(watch.MayGive(7, kInterval));
}

TEST(IndexWatchTest, EveryEntryOfAnUnchangingIndexIsValid) {
  IndexWatch watch(kInterval);
  watch.Learn({.version = 7}, At(0));
  EXPECT_TRUE(watch.MayGive(0, std::chrono::hours(1)));
}

TEST(IndexWatchTest, PagesOfTheKnownVersionMayBeRepeated) {
  IndexWatch watch(kInterval);
  const auto may = [&](uint64_t version) {
    return watch.MayRepeat({.version = version}, std::chrono::hours(1), At(0));
  };
  EXPECT_FALSE(may(7)) << "before the first answer";
  watch.Learn({.version = 7}, At(0));
  EXPECT_TRUE(may(7));
  watch.Learn({.version = 8}, At(0));
  EXPECT_FALSE(may(7));
  EXPECT_TRUE(may(8));
}

TEST(IndexWatchTest, PagesOfALiveIndexAreRepeatedWhileItsEpochIsKnown) {
  IndexWatch watch(kInterval);
  watch.Learn({.version = 7, .epoch = 5}, At(0));
  const IndexState of = {.version = 7, .epoch = 5};
  EXPECT_TRUE(watch.MayRepeat(of, std::chrono::hours(1), At(999)));
  EXPECT_FALSE(watch.MayRepeat(of, std::chrono::hours(1), At(1000))) << "a query must look";
  EXPECT_FALSE(watch.MayRepeat(of, milliseconds(1), At(1000)));
  EXPECT_EQ(watch.KnownAt(At(1000)), std::nullopt);
  EXPECT_TRUE(watch.MayRepeat(of, std::chrono::hours(1), At(1001))) << "it does";
  watch.Learn({.version = 7, .epoch = 6}, At(1500));
  EXPECT_FALSE(watch.MayRepeat(of, kInterval, At(1500)));
  EXPECT_TRUE(watch.MayRepeat(of, milliseconds(999), At(1500)));
  EXPECT_FALSE(watch.MayRepeat({.version = 7}, kInterval, At(1500))) << "was not settled";
}

}  // namespace
}  // namespace search::frontend
