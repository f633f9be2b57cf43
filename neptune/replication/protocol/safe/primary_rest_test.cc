#include "neptune/replication/protocol/safe/primary_rest.h"

#include <gtest/gtest.h>

#include <set>

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

// Primaries of a node that begin to lead one after the other.
TEST(PrimaryRestTest, HeartbeatsOfRestingOnesAreSpreadAndShareTheirTimes) {
  const SafeReplicaOptions options;
  constexpr int kCount = 1000;
  std::set<TimePoint> times;
  for (int i = 0; i < kCount; ++i) {
    const TimePoint begin = TimePoint(seconds(100)) + microseconds(137 * i);
    PrimaryRest rest(options);
    rest.Begin(begin);
    const TimePoint now = begin + seconds(1);
    rest.NoteHeartbeat(/*offers=*/true, now);
    const TimePoint next = rest.Rest(now);
    EXPECT_TRUE(rest.is_resting());
    EXPECT_LE(next - now, options.rest_interval);
    EXPECT_GE(next - now, options.rest_interval - options.rest_interval / 4);
    times.insert(next);
  }
  EXPECT_LE(times.size(), 8u);
  EXPECT_GE(times.size(), 5u);
}

TEST(PrimaryRestTest, AShortIntervalIsKeptToo) {
  SafeReplicaOptions options;
  options.rest_interval = Duration(10);
  PrimaryRest rest(options);
  const TimePoint now(seconds(5));
  rest.Begin(now);
  EXPECT_GT(rest.Rest(now), now);
}

}  // namespace
}  // namespace neptune
