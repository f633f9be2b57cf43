// The table of capsules.

#include "neptune/interpose/preload/status_text.h"

#include <gtest/gtest.h>

namespace neptune::interpose {
namespace {

TEST(StatusTextTest, HasAHeaderAndALineForEachCapsule) {
  CapsuleReport first;
  first.config.name = "replica-1";
  first.statistics.control.resident_count = 3;
  first.statistics.control.entered = 120;
  first.statistics.control.refused = 5;
  first.statistics.control.mean_time = std::chrono::microseconds(25'149);
  CapsuleReport second;
  second.config.name = "default";
  second.statistics.migrated = 1'000'000;
  EXPECT_EQ(StatusText({first, second}),
            "capsule    residents  waiting  entered  done  failed  timed_out  refused  bypassed  "
            "terminated  migrated  mean_ms  tail_ms\n"
            "replica-1          3        0      120     0       0          0        5         0    "
            "       0         0     25.1      0.0\n"
            "default            0        0        0     0       0          0        0         0    "
            "       0   1000000      0.0      0.0\n");
}

}  // namespace
}  // namespace neptune::interpose
