#include "index/tier/statistics/renewal_policy.h"

#include <gtest/gtest.h>

namespace search::index {
namespace {

using neptune::Duration;
using neptune::TimePoint;
using neptune::WallTime;
using std::chrono::minutes;
using std::chrono::seconds;
using Partitions = std::vector<PartitionStatistics>;

constexpr TimePoint kBegin{};
constexpr WallTime kWallBegin{1'600'000'000'000'000'000};

WallTime WallAfter(Duration time) { return {kWallBegin.ns_since_1970 + time.count()}; }

// Two partitions of 500 documents with statistics that were renewed at the beginning, when 100
// documents had changed.
Partitions Renewed(uint64_t changes_since) {
  const uint64_t version = NextStatisticsVersion({}, kWallBegin, 7);
  const PartitionStatistics partition{.index_version = 1,
                                      .version = version,
                                      .counted_changes = 100,
                                      .change_count = 50,
                                      .document_count = 500};
  Partitions partitions = {partition, partition};
  partitions[1].change_count += changes_since;
  return partitions;
}

bool IsDue(const Partitions& partitions, Duration after) {
  return RenewalPolicy({}, kBegin).IsDue(partitions, kBegin + after, WallAfter(after));
}

TEST(RenewalPolicyTest, IsDueOnceAShareOfTheDocumentsHasChanged) {
  EXPECT_FALSE(IsDue(Renewed(19), seconds(10)));
  EXPECT_TRUE(IsDue(Renewed(20), seconds(10)));
}

TEST(RenewalPolicyTest, IsDueAfterThePeriodIfAnythingHasChanged) {
  EXPECT_FALSE(IsDue(Renewed(1), minutes(10) - seconds(1)));
  EXPECT_TRUE(IsDue(Renewed(1), minutes(10)));
  EXPECT_FALSE(IsDue(Renewed(0), minutes(1000)));
}

TEST(RenewalPolicyTest, PublishedStatisticsAreAsOldAsTheOneWhoLooks) {
  Partitions published = {{.index_version = 1, .change_count = 1, .document_count = 1000}};
  EXPECT_FALSE(IsDue(published, minutes(10) - seconds(1)));
  EXPECT_TRUE(IsDue(published, minutes(10)));
}

TEST(RenewalPolicyTest, IsDueWherePartitionsUseDifferentOnes) {
  Partitions partitions = Renewed(0);
  partitions[1].version = 0;
  EXPECT_TRUE(IsDue(partitions, seconds(10)));
}

TEST(RenewalPolicyTest, AReplicaThatLagsBehindAnAttemptThatWasDoneIsWaitedFor) {
  Partitions partitions = Renewed(0);
  partitions[1].version = 0;
  RenewalPolicy policy({}, kBegin);
  policy.NoteAttempt(true, kBegin);
  EXPECT_FALSE(policy.IsDue(partitions, kBegin + minutes(10) - seconds(1), kWallBegin));
  EXPECT_TRUE(policy.IsDue(partitions, kBegin + minutes(10), kWallBegin));
}

TEST(RenewalPolicyTest, IsNotDueWhileAnIndexIsPublished) {
  Partitions partitions = Renewed(500);
  partitions[1].index_version = 2;
  EXPECT_FALSE(IsDue(partitions, minutes(100)));
  EXPECT_FALSE(IsDue({}, minutes(100)));
}

TEST(RenewalPolicyTest, PausesAfterABeginningAndAfterEachAttemptLongerAfterFailures) {
  const Partitions partitions = Renewed(500);
  RenewalPolicy policy({}, kBegin);
  const auto due_at = [&](TimePoint now) { return policy.IsDue(partitions, now, kWallBegin); };
  EXPECT_FALSE(due_at(kBegin + kRenewalPause - seconds(1)));
  TimePoint now = kBegin + kRenewalPause;
  EXPECT_TRUE(due_at(now));
  policy.NoteAttempt(true, now);
  EXPECT_FALSE(due_at(now + kRenewalPause - seconds(1)));
  EXPECT_TRUE(due_at(now + kRenewalPause));
  policy.NoteAttempt(false, now);
  EXPECT_FALSE(due_at(now + 2 * kRenewalPause - seconds(1)));
  EXPECT_TRUE(due_at(now + 2 * kRenewalPause));
  for (int i = 0; i < 100; ++i) policy.NoteAttempt(false, now);
  EXPECT_FALSE(due_at(now + minutes(10) - seconds(1)));
  EXPECT_TRUE(due_at(now + minutes(10)));
}

TEST(NextStatisticsVersionTest, GrowsWhateverTheClockAndDiffersByNumber) {
  Partitions partitions = Renewed(0);
  partitions[0].version = NextStatisticsVersion({}, WallAfter(minutes(5)), 4095);
  EXPECT_GT(NextStatisticsVersion(partitions, kWallBegin, 0), partitions[0].version);
  EXPECT_NE(NextStatisticsVersion(partitions, kWallBegin, 1),
            NextStatisticsVersion(partitions, kWallBegin, 2));
}

}  // namespace
}  // namespace search::index
