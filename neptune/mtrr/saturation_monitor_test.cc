#include "neptune/mtrr/saturation_monitor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace neptune {
namespace {

constexpr double kWindowS = 10;

// Gold and bronze with 4 threads each, on a machine without speedup.
OperatingPoint Point() {
  return {.service_rate = 100,
          .speedup = *Speedup::Make(0.2, 6),
          .processor_s = 0.008,
          .classes = {{.name = "gold",
                       .arrival_rate = 60,
                       .thread_count = 4,
                       .queue_length_max = 40,
                       .response_max_s = 0.2},
                      {.name = "bronze",
                       .arrival_rate = 30,
                       .thread_count = 4,
                       .queue_length_max = 40,
                       .response_max_s = {}}}};
}

// Counts like a node whose requests behave as given.
struct CountingNode {
  struct Conduct {
    double arrival_rate;
    double run_s;  // time of a request
    double processor_s = 0.008;
    double response_s = 0.05;
    double loss_share = 0;
    int threads = 4;
  };

  void Pass(const Conduct& conduct, ClassCounters* one) const {
    const double arrived = conduct.arrival_rate * kWindowS;
    const double served = arrived * (1 - conduct.loss_share);
    one->thread_count = conduct.threads;
    one->arrived += static_cast<uint64_t>(std::llround(arrived));
    one->served += static_cast<uint64_t>(std::llround(served));
    one->lost += static_cast<uint64_t>(std::llround(arrived - served));
    one->run_s += served * conduct.run_s;
    one->processor_s += served * conduct.processor_s;
    one->response_s += served * conduct.response_s;
  }
  const CounterSnapshot& Next(const Conduct& gold, const Conduct& bronze) {
    snapshot.at_s += kWindowS;
    Pass(gold, &snapshot.classes[0]);
    Pass(bronze, &snapshot.classes[1]);
    return snapshot;
  }

  CounterSnapshot snapshot{.at_s = 0, .classes = {{.name = "gold"}, {.name = "bronze"}}};
};

// The chain's prediction for `rate` requests a second.
double ExpectedRunS(double rate = 90) {
  const ResponseModel model = *PredictResponse({.arrival_rate = rate,
                                                .service_rate = 100,
                                                .speedup = *Speedup::Make(0.2, 6),
                                                .thread_count = 8,
                                                .queue_length_max = 80});
  return model.in_service_mean / model.throughput;
}

class SaturationMonitorTest : public testing::Test {
 protected:
  using Conduct = CountingNode::Conduct;

  // Returns the last of `windows` windows in which requests behave as given.
  WindowReport After(int windows, const Conduct& gold, const Conduct& bronze) {
    WindowReport report;
    for (int i = 0; i < windows; ++i) report = monitor_.Observe(node_.Next(gold, bronze));
    return report;
  }
  static bool Has(const WindowReport& report, Departure departure,
                  const std::string& service_class) {
    return std::any_of(report.departures.begin(), report.departures.end(), [&](const auto& one) {
      return one.departure == departure && one.service_class == service_class;
    });
  }

  CountingNode node_;
  SaturationMonitor monitor_ = *SaturationMonitor::Make(Point());
  const Conduct gold_{.arrival_rate = 60, .run_s = ExpectedRunS()};
  const Conduct bronze_{.arrival_rate = 30, .run_s = ExpectedRunS()};
};

TEST_F(SaturationMonitorTest, ThePlannedPointReportsNoDeparture) {
  EXPECT_FALSE(After(1, gold_, bronze_).is_window) << "one snapshot does not make a window";
  const WindowReport report = After(5, gold_, bronze_);
  EXPECT_TRUE(report.is_window);
  EXPECT_TRUE(report.departures.empty());
  EXPECT_NEAR(report.classes[0].arrival_rate, 60, 1e-9);
  EXPECT_NEAR(report.busy_threads_mean, 90 * ExpectedRunS(), 1e-6);
  EXPECT_NEAR(report.processing_s / report.processing_expected_s, 1, 1e-6);
}

TEST_F(SaturationMonitorTest, MoreArrivalsAreReportedOnceTheyLast) {
  const double run_s = ExpectedRunS(120);
  const Conduct more{.arrival_rate = 90, .run_s = run_s};
  const Conduct bronze{.arrival_rate = 30, .run_s = run_s};
  After(2, gold_, bronze_);
  EXPECT_TRUE(After(2, more, bronze).departures.empty());
  const WindowReport report = After(1, more, bronze);
  ASSERT_EQ(report.departures.size(), 1u);
  EXPECT_EQ(report.departures[0].departure, Departure::kArrivals);
  EXPECT_EQ(report.departures[0].service_class, "gold");
  EXPECT_NEAR(report.departures[0].measured, 90, 1e-9);
  EXPECT_TRUE(After(1, gold_, bronze_).departures.empty()) << "not reported after it has ended";
}

TEST_F(SaturationMonitorTest, ABurstReportsNoDeparture) {
  const Conduct more{.arrival_rate = 90, .run_s = ExpectedRunS(120)};
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(After(2, more, bronze_).departures.empty());
    EXPECT_TRUE(After(1, gold_, bronze_).departures.empty());
  }
}

TEST_F(SaturationMonitorTest, SlowerRequestsHaveMovedTheSaturationPoint) {
  Conduct gold = gold_;
  Conduct bronze = bronze_;
  gold.run_s = bronze.run_s = 1.4 * ExpectedRunS();
  EXPECT_TRUE(Has(After(4, gold, bronze), Departure::kServiceTime, ""));
}

TEST_F(SaturationMonitorTest, FasterRequestsAreADepartureToo) {
  Conduct gold = gold_;
  Conduct bronze = bronze_;
  gold.run_s = bronze.run_s = ExpectedRunS() / 1.4;
  EXPECT_TRUE(Has(After(4, gold, bronze), Departure::kServiceTime, ""));
}

TEST_F(SaturationMonitorTest, OtherProcessorTimeIsAnotherKindOfRequest) {
  Conduct gold = gold_;
  gold.processor_s = 0.020;
  const WindowReport report = After(4, gold, bronze_);
  EXPECT_TRUE(Has(report, Departure::kProcessorTime, ""));
  EXPECT_FALSE(Has(report, Departure::kServiceTime, ""));
}

TEST_F(SaturationMonitorTest, BusyThreadsAreSaturation) {
  // 8 threads, G = 2: 200 a second at most, each in service for 40 ms.
  const Conduct gold{.arrival_rate = 60, .run_s = 0.04};
  const Conduct bronze{.arrival_rate = 400,
                       .run_s = 0.04,
                       .processor_s = 0.008,
                       .response_s = 0.5,
                       .loss_share = 0.65};
  const WindowReport report = After(4, gold, bronze);
  EXPECT_TRUE(Has(report, Departure::kSaturated, ""));
  EXPECT_TRUE(Has(report, Departure::kArrivals, "bronze"));
  EXPECT_TRUE(Has(report, Departure::kLost, "bronze"));
  EXPECT_FALSE(Has(report, Departure::kLost, "gold"));
  EXPECT_FALSE(Has(report, Departure::kServiceTime, "")) << "the profile is correct at that load";
}

TEST_F(SaturationMonitorTest, ABrokenPromiseIsReported) {
  Conduct gold = gold_;
  gold.response_s = 0.25;
  EXPECT_TRUE(Has(After(4, gold, bronze_), Departure::kLate, "gold"));
}

TEST_F(SaturationMonitorTest, OtherThreadCountsThanPlannedAreReported) {
  Conduct gold = gold_;
  gold.threads = 2;
  EXPECT_TRUE(Has(After(4, gold, bronze_), Departure::kThreads, "gold"));
}

TEST_F(SaturationMonitorTest, FewRequestsNeitherBeginNorEndADeparture) {
  Conduct slow = gold_;
  slow.run_s *= 2;
  slow.response_s = 0.25;
  After(4, slow, slow);
  const Conduct idle{.arrival_rate = 0.5, .run_s = 0.001};
  After(5, idle, idle);
  EXPECT_TRUE(Has(After(1, slow, slow), Departure::kServiceTime, ""));
  EXPECT_TRUE(Has(After(1, slow, slow), Departure::kLate, "gold"));
}

TEST_F(SaturationMonitorTest, ARestartedNodeEndsNoWindow) {
  Conduct slow = gold_;
  slow.run_s *= 2;
  After(4, slow, slow);
  const double at_s = node_.snapshot.at_s;
  node_ = CountingNode();
  node_.snapshot.at_s = at_s;
  EXPECT_FALSE(After(1, slow, slow).is_window);
  EXPECT_TRUE(After(2, slow, slow).departures.empty());
  EXPECT_FALSE(After(1, slow, slow).departures.empty());
}

TEST_F(SaturationMonitorTest, AnIdleClassReportsNoDeparture) {
  node_.snapshot.classes.clear();
  CounterSnapshot empty{.at_s = 1, .classes = {}};
  monitor_.Observe(empty);
  empty.at_s = 2;
  const WindowReport report = monitor_.Observe(empty);
  EXPECT_TRUE(report.is_window);
  EXPECT_TRUE(report.departures.empty());
}

TEST(SaturationMonitorMakeTest, RefusesInvalidOperatingPoints) {
  const auto fault = [](auto change) {
    OperatingPoint point = Point();
    change(point);
    return SaturationMonitor::Make(point).status().code() == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(fault([](OperatingPoint& p) { p.classes.clear(); }));
  EXPECT_TRUE(fault([](OperatingPoint& p) { p.classes[1].name = "gold"; }));
  EXPECT_TRUE(fault([](OperatingPoint& p) { p.classes[0].arrival_rate = 0; }));
  EXPECT_TRUE(fault([](OperatingPoint& p) { p.classes[0].thread_count = 0; }));
  EXPECT_TRUE(fault([](OperatingPoint& p) { p.service_rate = -1; }));
  EXPECT_FALSE(SaturationMonitor::Make(Point(), {.tolerance = 0}).ok());
  EXPECT_FALSE(SaturationMonitor::Make(Point(), {.window_count = 0}).ok());
}

TEST(DepartureNameTest, EveryDepartureHasAName) {
  EXPECT_EQ(DepartureName(Departure::kArrivals), "arrivals");
  EXPECT_EQ(DepartureName(Departure::kServiceTime), "service time");
}

}  // namespace
}  // namespace neptune
