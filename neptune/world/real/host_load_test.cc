#include "neptune/world/real/host_load.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

TEST(HostLoadTest, ReadsTheLineOfAllProcessors) {
  const auto ticks = ParseProcStat("cpu  100 20 30 800 50 1 2 3 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n");
  ASSERT_TRUE(ticks.has_value());
  EXPECT_EQ(ticks->all, 1006u);
  EXPECT_EQ(ticks->busy, 156u);
  EXPECT_EQ(ticks->waiting_for_disk, 50u);
}

TEST(HostLoadTest, OtherTextIsRefused) {
  EXPECT_FALSE(ParseProcStat("").has_value());
  EXPECT_FALSE(ParseProcStat("cpu  1 2 x").has_value());
  EXPECT_FALSE(ParseProcStat("intr 1 2 3 4 5 6 7 8").has_value());
}

TEST(HostLoadTest, LoadIsTheShareSinceTheLastSample) {
  const HostLoad load = LoadBetween({100, 10, 1000}, {350, 60, 2000});
  EXPECT_EQ(load.cpu_permille, 250);
  EXPECT_EQ(load.io_permille, 50);
  EXPECT_EQ(LoadBetween({100, 10, 1000}, {90, 10, 1100}).cpu_permille, 0);
  EXPECT_EQ(LoadBetween({100, 10, 1000}, {100, 10, 1000}).cpu_permille, 0);
}

TEST(HostLoadTest, SamplesThisMachine) {
  LoadSampler sampler;
  EXPECT_EQ(sampler.Sample().cpu_permille, 0) << "nothing to compare with yet";
  EXPECT_LE(sampler.Sample().cpu_permille, 1000);
}

}  // namespace
}  // namespace neptune
