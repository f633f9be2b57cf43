#include "tools/cluster/restart_policy.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kStart{};

TEST(RestartPolicyTest, FirstDeathIsRepairedAtOnce) {
  RestartPolicy policy;
  EXPECT_EQ(policy.OnDeath(kStart, kStart + seconds(1)), kStart + seconds(1));
}

TEST(RestartPolicyTest, PausesGrowAndAreBounded) {
  RestartPolicy policy;
  TimePoint now = kStart;
  policy.OnDeath(now, now);
  for (const auto pause : {milliseconds(200), milliseconds(400), milliseconds(800)}) {
    EXPECT_EQ(policy.OnDeath(now, now) - now, pause);
  }
  for (int i = 0; i < 100; ++i) policy.OnDeath(now, now);
  EXPECT_EQ(policy.OnDeath(now, now) - now, seconds(10));
  EXPECT_EQ(policy.death_count(), 105);
}

TEST(RestartPolicyTest, AHealthyRunForgetsEarlierDeaths) {
  RestartPolicy policy;
  policy.OnDeath(kStart, kStart);
  policy.OnDeath(kStart, kStart);
  EXPECT_EQ(policy.OnDeath(kStart, kStart + seconds(10)), kStart + seconds(10));
}

}  // namespace
}  // namespace search::tools
