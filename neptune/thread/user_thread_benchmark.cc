// Costs of user-level threads on a real loop: start and end, yield, wake.

#include <benchmark/benchmark.h>
#include <locale.h>

#include <memory>

#include "neptune/base/notification.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

// Runs the measured loop on a user-level thread of a new loop.
template <typename Body>
void RunOnUserThread(Body body) {
  const auto world = MakeRealWorld({});
  Loop* const loop = *world->StartLoop({.name = "bench"});
  std::unique_ptr<ThreadScheduler> scheduler;
  Notification done;
  loop->Post([&] {
    scheduler = std::make_unique<ThreadScheduler>(*loop);
    (void)scheduler->Spawn([&] {
      body();
      done.Notify();
    });
  });
  done.WaitForNotification();
  world->Stop();
}

void BM_SpawnAndJoin(benchmark::State& state) {
  RunOnUserThread([&] {
    ThreadScheduler& scheduler = *ThreadScheduler::Current();
    for (auto _ : state) {
      const ThreadRef thread = *scheduler.Spawn([] {});
      (void)scheduler.Join(*thread.get(), kNever);
    }
  });
}
BENCHMARK(BM_SpawnAndJoin);

// Two threads alternate: two switches and two turns of the ready queue each iteration.
void BM_YieldToAnother(benchmark::State& state) {
  RunOnUserThread([&] {
    bool ended = false;
    const ThreadRef other = *ThreadScheduler::Current()->Spawn([&] {
      while (!ended) this_thread::Yield();
    });
    for (auto _ : state) this_thread::Yield();
    ended = true;
    (void)ThreadScheduler::Current()->Join(*other.get(), kNever);
  });
}
BENCHMARK(BM_YieldToAnother);

// The same between threads with different locales, which each switch then sets.
void BM_YieldToAnotherLocale(benchmark::State& state) {
  RunOnUserThread([&] {
    bool ended = false;
    const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
    const ThreadRef other = *ThreadScheduler::Current()->Spawn([&] {
      uselocale(locale);
      while (!ended) this_thread::Yield();
    });
    for (auto _ : state) this_thread::Yield();
    ended = true;
    (void)ThreadScheduler::Current()->Join(*other.get(), kNever);
    freelocale(locale);
  });
}
BENCHMARK(BM_YieldToAnotherLocale);

// This thread wakes another one and parks until that one wakes it.
void BM_WakeAndPark(benchmark::State& state) {
  RunOnUserThread([&] {
    bool ended = false;
    const ThreadRef self(UserThread::Current());
    const ThreadRef other = *ThreadScheduler::Current()->Spawn([&] {
      while (!ended) {
        (void)this_thread::Park();
        self->Wake();
      }
    });
    for (auto _ : state) {
      other->Wake();
      (void)this_thread::Park();
    }
    ended = true;
    other->Wake();
    (void)ThreadScheduler::Current()->Join(*other.get(), kNever);
  });
}
BENCHMARK(BM_WakeAndPark);

void BM_ParkWithDeadline(benchmark::State& state) {
  RunOnUserThread([&] {
    for (auto _ : state) {
      UserThread::Current()->Wake();
      (void)this_thread::Park(kNever - Duration(1));
    }
  });
}
BENCHMARK(BM_ParkWithDeadline);

// What a call does: it parks with a deadline and is woken long before.
void BM_WakeAndParkWithDeadline(benchmark::State& state) {
  RunOnUserThread([&] {
    bool ended = false;
    const ThreadRef self(UserThread::Current());
    const ThreadRef other = *ThreadScheduler::Current()->Spawn([&] {
      while (!ended) {
        (void)this_thread::Park();
        self->Wake();
      }
    });
    TimePoint deadline = this_thread::Now() + std::chrono::hours(1);
    for (auto _ : state) {
      other->Wake();
      (void)this_thread::Park(deadline += Duration(1));
    }
    ended = true;
    other->Wake();
    (void)ThreadScheduler::Current()->Join(*other.get(), kNever);
  });
}
BENCHMARK(BM_WakeAndParkWithDeadline);

}  // namespace
}  // namespace neptune

BENCHMARK_MAIN();
