// Cost of choosing the next request; the limit is 1 us for 64 classes that all have requests.

#include <benchmark/benchmark.h>

#include "neptune/base/strings.h"
#include "neptune/scheduling/class_scheduler.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// One decision, the end of its request, and the arrival of another one. `guaranteed`: sum of the
// guarantees of all classes; without guarantees the policy alone decides.
void BM_Decision(benchmark::State& state, SchedulingPolicy policy, double guaranteed) {
  const auto count = static_cast<ClassNumber>(state.range(0));
  SchedulerOptions options;
  options.policy = policy;
  options.classes.clear();
  for (ClassNumber number = 0; number < count; ++number) {
    options.classes.push_back(
        {.name = StrCat("class", number),
         .yield = *YieldFunction::Hybrid(1 + number, seconds(1), 0.5, seconds(2)),
         .guarantee = guaranteed / count});
  }
  ClassScheduler scheduler(options);
  const ClassThreads threads({.all = 1}, count);
  RandomSource random(1);
  RequestTicket ticket = 0;
  for (ClassNumber number = 0; number < count; ++number) {
    for (int i = 0; i < 5; ++i) scheduler.Push({++ticket, TimePoint(), kNever, number});
    scheduler.OnServed(number, milliseconds(5), milliseconds(5), TimePoint());
  }
  TimePoint now{};
  for (auto _ : state) {
    now += std::chrono::microseconds(10);
    const ClassScheduler::Picked picked = scheduler.Pick(now, threads);
    const ClassNumber number = picked.next->service_class;
    scheduler.OnServed(number, milliseconds(5), milliseconds(5), now);
    scheduler.Push({++ticket, now, kNever, number});
    for (const WaitingRequest& dropped : picked.dropped) {
      scheduler.Push({++ticket, now, kNever, dropped.service_class});
    }
  }
}
BENCHMARK_CAPTURE(BM_Decision, edf, SchedulingPolicy::kEdf, 0.5)->Arg(3)->Arg(64);
BENCHMARK_CAPTURE(BM_Decision, yid, SchedulingPolicy::kYid, 0.5)->Arg(3)->Arg(64);
BENCHMARK_CAPTURE(BM_Decision, greedy, SchedulingPolicy::kGreedy, 0.5)->Arg(3)->Arg(64);
BENCHMARK_CAPTURE(BM_Decision, adaptive, SchedulingPolicy::kAdaptive, 0.5)->Arg(3)->Arg(64);
BENCHMARK_CAPTURE(BM_Decision, waiting_cost, SchedulingPolicy::kWaitingCost, 0.5)->Arg(3)->Arg(64);
BENCHMARK_CAPTURE(BM_Decision, edf_alone, SchedulingPolicy::kEdf, 0)->Arg(3)->Arg(64);
BENCHMARK_CAPTURE(BM_Decision, yid_alone, SchedulingPolicy::kYid, 0)->Arg(3)->Arg(64);
BENCHMARK_CAPTURE(BM_Decision, greedy_alone, SchedulingPolicy::kGreedy, 0)->Arg(3)->Arg(64);
BENCHMARK_CAPTURE(BM_Decision, adaptive_alone, SchedulingPolicy::kAdaptive, 0)->Arg(3)->Arg(64);
BENCHMARK_CAPTURE(BM_Decision, waiting_cost_alone, SchedulingPolicy::kWaitingCost, 0)
    ->Arg(3)
    ->Arg(64);

}  // namespace
}  // namespace neptune
