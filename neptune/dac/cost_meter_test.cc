// Means of operators, work that waits, and the budget for work done twice.

#include "neptune/dac/cost_meter.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;

TEST(CostMeterTest, MeansAreOfTheServiceAndFollow) {
  CostMeter meter;
  const ServiceName service("index");
  EXPECT_EQ(meter.Of(service).local, Duration(0));
  for (int i = 0; i < 500; ++i) meter.AddLocal(service, milliseconds(25));
  for (int i = 0; i < 500; ++i) meter.AddReduce(service, milliseconds(5));
  EXPECT_EQ(meter.Of(service).local, milliseconds(25));
  EXPECT_EQ(meter.Of(service).reduce, milliseconds(5));
  EXPECT_EQ(meter.Of(ServiceName("other")).local, Duration(0));
}

TEST(CostMeterTest, ServicesBeyondTheLimitHaveNoMeans) {
  CostMeter meter;
  for (size_t i = 0; i <= CostMeter::kServiceCountMax; ++i) {
    meter.AddLocal(ServiceName(std::to_string(i)), milliseconds(1));
  }
  EXPECT_EQ(meter.Of(ServiceName("0")).local, milliseconds(1));
  EXPECT_EQ(meter.Of(ServiceName(std::to_string(CostMeter::kServiceCountMax))).local, Duration(0));
}

TEST(CostMeterTest, PendingWorkIsGoneWithItsRequest) {
  CostMeter meter;
  {
    PendingWork first(meter, milliseconds(30));
    PendingWork second(meter, milliseconds(10));
    EXPECT_EQ(meter.pending(), milliseconds(40));
    first.Settle(milliseconds(25));
    EXPECT_EQ(meter.pending(), milliseconds(15));
    first.Settle(milliseconds(25));  // no more than there was
    EXPECT_EQ(meter.pending(), milliseconds(10));
  }
  EXPECT_EQ(meter.pending(), Duration(0));
}

TEST(CostMeterTest, TaskCountsItsOperatorsAndTheReductionsOfTheirResults) {
  CostMeter meter;
  const ServiceName service("index");
  for (int i = 0; i < 500; ++i) meter.AddLocal(service, milliseconds(25));
  for (int i = 0; i < 500; ++i) meter.AddReduce(service, milliseconds(5));
  {
    TaskWork task(meter, service, /*own_count=*/2, /*child_count=*/3);
    EXPECT_EQ(meter.pending(), milliseconds(2 * 25 + 4 * 5));
    task.SettleLocal();
    task.SettleReduction();
    EXPECT_EQ(meter.pending(), milliseconds(25 + 3 * 5));
  }
  EXPECT_EQ(meter.pending(), Duration(0));
  const TaskWork caller(meter, service, 0, 3);
  EXPECT_EQ(meter.pending(), Duration(0)) << "a caller's reductions do not count";
}

}  // namespace
}  // namespace neptune
