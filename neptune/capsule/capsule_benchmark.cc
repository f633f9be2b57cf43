// Cost of a permit: an empty network capsule, with and without capsules above it, and a device
// capsule whose helper thread is idle.

#include <benchmark/benchmark.h>

#include <memory>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_permit.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/capsule/device_call.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

// Runs the measured loop on a user-level thread of its own loop.
template <typename Body>
void RunOnUserThread(Body body) {
  const auto world = MakeRealWorld({});
  CapsuleStack stack({.make_helpers = [&](const std::string& name, int count) {
    return world->MakeHelperThreads(name, count);
  }});
  Loop* const loop = *world->StartLoop({.name = "bench"});
  std::unique_ptr<ThreadScheduler> scheduler;
  Notification done;
  loop->Post([&] {
    scheduler = std::make_unique<ThreadScheduler>(*loop);
    (void)scheduler->Spawn([&] {
      body(stack);
      done.Notify();
    });
  });
  done.WaitForNotification();
  world->Stop();
}

void AddCapsule(CapsuleStack& stack, const std::string& name, const std::string& rule,
                size_t processing_count_max) {
  CapsuleConfig config;
  config.name = name;
  config.rules = {*ClassificationRule::Parse(rule)};
  config.type = config.rules.front().type();
  config.processing_count_max = processing_count_max;
  if (!stack.Create(config).ok()) std::abort();
}

void VisitForever(benchmark::State& state, CapsuleStack& stack) {
  for (auto _ : state) {
    CapsulePermit visit;
    const Status status =
        visit.Enter(stack, NetworkOperation{.service = "index", .partition = PartitionId(3)}, {});
    if (!status.ok()) return state.SkipWithError("refused");
    visit.Leave(CapsuleOutcome::kDone);
  }
}

void BM_DefaultCapsule(benchmark::State& state) {
  RunOnUserThread([&](CapsuleStack& stack) { VisitForever(state, stack); });
}
BENCHMARK(BM_DefaultCapsule);

void BM_OneOfManyCapsules(benchmark::State& state) {
  RunOnUserThread([&](CapsuleStack& stack) {
    AddCapsule(stack, "index", "service:index/3", 8);
    for (int i = 0; i < state.range(0); ++i) {
      AddCapsule(stack, StrCat("other", i), StrCat("service:other", i), 8);
    }
    VisitForever(state, stack);
  });
}
BENCHMARK(BM_OneOfManyCapsules)->Arg(0)->Arg(8)->Arg(64);

// Two threads wait for each other's place: two permits, two parks.
void BM_WaitForTurn(benchmark::State& state) {
  RunOnUserThread([&](CapsuleStack& stack) {
    AddCapsule(stack, "index", "service:index/3", 1);
    bool ended = false;
    const ThreadRef other = *ThreadScheduler::Current()->Spawn([&] {
      while (!ended) {
        CapsulePermit visit;
        (void)visit.Enter(stack, NetworkOperation{.service = "index", .partition = PartitionId(3)},
                          {});
        this_thread::Yield();
        visit.Leave(CapsuleOutcome::kDone);
      }
    });
    for (auto _ : state) {
      CapsulePermit visit;
      (void)visit.Enter(stack, NetworkOperation{.service = "index", .partition = PartitionId(3)},
                        {});
      this_thread::Yield();
      visit.Leave(CapsuleOutcome::kDone);
    }
    ended = true;
    (void)ThreadScheduler::Current()->Join(*other.get(), kNever);
  });
}
BENCHMARK(BM_WaitForTurn);

void BM_DeviceCall(benchmark::State& state) {
  RunOnUserThread([&](CapsuleStack& stack) {
    AddCapsule(stack, "store", "disk:/store/**", 1);
    for (auto _ : state) {
      const StatusOr<int> value = RunOnDevice(stack, "/store/x", [] { return 1; });
      if (!value.ok()) return state.SkipWithError("refused");
    }
  });
}
BENCHMARK(BM_DeviceCall);

}  // namespace
}  // namespace neptune

BENCHMARK_MAIN();
