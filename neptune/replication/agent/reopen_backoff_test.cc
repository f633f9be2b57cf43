#include "neptune/replication/agent/reopen_backoff.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

constexpr TimePoint kBegin = TimePoint(std::chrono::hours(1));

TEST(ReopenBackoffTest, DoublesItsDelayUpToTheMaximum) {
  RandomSource random(7);
  ReopenBackoff backoff;
  Duration expected = kReopenDelayMin;
  for (int i = 0; i < 20; ++i) {
    const Duration delay = backoff.NextAfterFailure(random, kBegin) - kBegin;
    EXPECT_GE(delay, expected / 2) << i;
    EXPECT_LE(delay, expected) << i;
    expected = std::min(2 * expected, kReopenDelayMax);
  }
  EXPECT_EQ(backoff.failure_count(), 20);
}

TEST(ReopenBackoffTest, BeginsAgainAfterTheReplicaWorkedForLong) {
  RandomSource random(7);
  ReopenBackoff backoff;
  for (int i = 0; i < 9; ++i) backoff.NextAfterFailure(random, kBegin);
  backoff.NoteOpened(kBegin);
  const TimePoint failed = kBegin + kReopenHealthyMin;
  EXPECT_LE(backoff.NextAfterFailure(random, failed), failed + kReopenDelayMin);
  EXPECT_EQ(backoff.failure_count(), 1);
}

TEST(ReopenBackoffTest, GoesOnDoublingIfTheReplicaWorkedBriefly) {
  RandomSource random(7);
  ReopenBackoff backoff;
  for (int i = 0; i < 9; ++i) backoff.NextAfterFailure(random, kBegin);
  backoff.NoteOpened(kBegin);
  const TimePoint failed = kBegin + kReopenHealthyMin / 2;
  EXPECT_GE(backoff.NextAfterFailure(random, failed), failed + kReopenDelayMax / 2);
}

TEST(ReopenBackoffTest, SpreadsReplicasThatFailTogether) {
  RandomSource random(7);
  TimePoint earliest = kNever;
  TimePoint latest{};
  for (int i = 0; i < 100; ++i) {
    ReopenBackoff backoff;
    const TimePoint next = backoff.NextAfterFailure(random, kBegin);
    earliest = std::min(earliest, next);
    latest = std::max(latest, next);
  }
  EXPECT_GE(latest - earliest, kReopenDelayMin * 2 / 5);
}

}  // namespace
}  // namespace neptune
