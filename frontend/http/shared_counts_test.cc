// What the gateway counts for each search shares no writes between threads.

#include <gtest/gtest.h>

#include <memory>

#include "frontend/http/gateway_metrics.h"
#include "frontend/policy/plan_metrics.h"
#include "frontend/trace/trace_log.h"
#include "neptune/base/shared_writes.h"

namespace search::frontend {
namespace {

using neptune::SharedWrites;
using std::chrono::milliseconds;

constexpr uint64_t kRounds = 20;

TEST(SharedCountsTest, CountingASearchWritesNothingThatAnotherThreadWrites) {
  if (!SharedWrites::IsSupported()) GTEST_SKIP() << "writes cannot be watched in this build";
  SharedWrites::KeepAllocations(true);
  const auto registry = std::make_unique<neptune::MetricsRegistry>();
  neptune::SchedulerOptions scheduling;
  scheduling.classes = {{.name = "gold"}, {.name = "rest"}};
  const auto gateway =
      std::make_unique<GatewayMetrics>(GatewayMetrics::Make(*registry, scheduling).value());
  const auto plan = std::make_unique<PlanMetrics>(PlanMetrics::Make(*registry).value());
  const auto traces = std::make_unique<TraceLog>(/*keeps_queries=*/true);
  const auto answer = std::make_unique<SearchAnswer>();
  SharedWrites::KeepAllocations(false);
  const neptune::TimePoint now{std::chrono::seconds(100)};
  for (int i = 0; i < TraceLog::kKeptInSecond; ++i) {
    traces->Keep(*answer, neptune::OkStatus(), "gold", /*sampled=*/false, now);
  }
  const auto lines = SharedWrites::SharedByTwoThreads(
      [&] {
        constexpr neptune::Duration kNone{0};
        gateway->classes->OnArrival(1);
        gateway->classes->OnEnd(1, neptune::OkStatus());
        gateway->classes->OnRan(1, kNone, milliseconds(3), kNone);
        gateway->page_hits->Increment();
        gateway->Count(PageFormat::kJson, SearchOutcome::kComplete, milliseconds(1));
        plan->cache_hit->Increment();
        plan->tier1_time->Record(milliseconds(2));
        traces->Count(milliseconds(1), /*is_partial=*/false);
        traces->Keep(*answer, neptune::OkStatus(), "gold", /*sampled=*/false, now);
      },
      kRounds);
  EXPECT_TRUE(lines.empty()) << SharedWrites::Describe(lines);
  EXPECT_EQ(gateway->page_hits->value(), 2 * (kRounds + 1));
}

}  // namespace
}  // namespace search::frontend
