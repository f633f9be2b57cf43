#include "neptune/replication/agent/acceptance_clock.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

LogEntry WriteAt(int64_t ns) {
  LogEntry entry;
  entry.accepted_at = {ns};
  return entry;
}

TEST(AcceptanceClockTest, FollowsTheWallClock) {
  const AcceptanceClock clock;
  EXPECT_EQ(clock.TimeOf({7}).ns_since_1970, 7);
}

TEST(AcceptanceClockTest, NeverGoesBehindTheNewestWrite) {
  AcceptanceClock clock;
  clock.Note(WriteAt(9));
  clock.Note(WriteAt(5));
  EXPECT_EQ(clock.TimeOf({7}).ns_since_1970, 9);
  EXPECT_EQ(clock.TimeOf({10}).ns_since_1970, 10);
}

TEST(AcceptanceClockTest, IgnoresEntriesThatAreNoWrites) {
  AcceptanceClock clock;
  LogEntry entry = WriteAt(9);
  entry.kind = EntryKind::kWriteSet;
  clock.Note(entry);
  EXPECT_EQ(clock.TimeOf({7}).ns_since_1970, 7);
}

}  // namespace
}  // namespace neptune
