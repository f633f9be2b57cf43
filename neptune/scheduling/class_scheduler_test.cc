#include "neptune/scheduling/class_scheduler.h"

#include <gtest/gtest.h>

#include <map>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ClassNumber kGold = 0;
constexpr ClassNumber kSilver = 1;
constexpr ClassNumber kBronze = 2;

TimePoint At(int64_t ms) { return TimePoint(milliseconds(ms)); }

// The papers' classes: yields 4 : 2 : 1 within 2 s, full during the first second, half at the end.
SchedulerOptions Memberships(SchedulingPolicy policy, double guarantee = 0) {
  SchedulerOptions options;
  options.policy = policy;
  options.classes.clear();
  double full = 4;
  for (const char* name : {"gold", "silver", "bronze"}) {
    options.classes.push_back(
        {.name = name,
         .yield = *YieldFunction::Hybrid(full, seconds(1), full / 2, seconds(2)),
         .guarantee = guarantee});
    full /= 2;
  }
  return options;
}

class Bench {
 public:
  explicit Bench(const SchedulerOptions& options)
      : scheduler(options), threads({.all = 1'000}, options.classes.size()) {}

  RequestTicket Add(ClassNumber service_class, int64_t arrived_ms, TimePoint deadline = kNever) {
    EXPECT_EQ(scheduler.Push({++ticket_, At(arrived_ms), deadline, service_class}),
              ClassScheduler::Entry::kTaken);
    return ticket_;
  }
  ClassScheduler::Picked PickRequest(int64_t now_ms) { return scheduler.Pick(At(now_ms), threads); }
  // The class that is picked; nullopt if none is.
  std::optional<ClassNumber> Pick(int64_t now_ms) {
    const ClassScheduler::Picked picked = PickRequest(now_ms);
    dropped += picked.dropped.size();
    if (!picked.next) return std::nullopt;
    return picked.next->service_class;
  }
  void Teach(ClassNumber service_class, Duration consumed, int times = 1) {
    for (int i = 0; i < times; ++i) scheduler.OnServed(service_class, consumed, consumed, At(0));
  }

  ClassScheduler scheduler;
  ClassThreads threads;
  size_t dropped = 0;

 private:
  RequestTicket ticket_ = 0;
};

TEST(ClassSchedulerTest, FirstComeFirstServedWithinAClass) {
  Bench bench((SchedulerOptions()));
  const RequestTicket first = bench.Add(0, 1);
  const RequestTicket second = bench.Add(0, 2);
  EXPECT_EQ(bench.PickRequest(3).next->ticket, first);
  EXPECT_EQ(bench.PickRequest(3).next->ticket, second);
  EXPECT_FALSE(bench.PickRequest(3).next);
}

TEST(ClassSchedulerTest, FifoAndEdfGoByTimeAlone) {
  for (const SchedulingPolicy policy : {SchedulingPolicy::kFifo, SchedulingPolicy::kEdf}) {
    Bench bench(Memberships(policy));
    bench.Add(kBronze, 10);
    bench.Add(kGold, 20);
    EXPECT_EQ(bench.Pick(30), kBronze) << NameOf(policy);
  }
}

TEST(ClassSchedulerTest, EdfHeedsTheCallersDeadline) {
  Bench bench(Memberships(SchedulingPolicy::kEdf));
  bench.Add(kBronze, 10);
  bench.Add(kGold, 20, At(500));
  EXPECT_EQ(bench.Pick(30), kGold);
}

TEST(ClassSchedulerTest, YidDividesTheTimeLeftByTheYield) {
  Bench bench(Memberships(SchedulingPolicy::kYid));
  bench.Add(kBronze, 0);  // 1000 / 1
  bench.Add(kGold, 600);  // 1600 / 4
  EXPECT_EQ(bench.Pick(1000), kGold);
  bench.Add(kGold, 1700);                // 1800 / 4
  EXPECT_EQ(bench.Pick(1900), kBronze);  // 100 / 0.55
}

TEST(ClassSchedulerTest, GreedyMaximizesYieldPerConsumption) {
  Bench bench(Memberships(SchedulingPolicy::kGreedy));
  bench.Teach(kGold, milliseconds(400));
  bench.Teach(kSilver, milliseconds(100));
  bench.Teach(kBronze, milliseconds(100));
  bench.Add(kGold, 0);    // 100 a unit
  bench.Add(kSilver, 0);  // 50
  bench.Add(kBronze, 0);  // 100
  EXPECT_EQ(bench.Pick(10), kSilver);
}

TEST(ClassSchedulerTest, AdaptiveIsGreedyWhileManyAreDropped) {
  Bench bench(Memberships(SchedulingPolicy::kAdaptive));
  bench.Teach(kGold, milliseconds(100));
  bench.Teach(kBronze, milliseconds(100));
  for (int i = 0; i < 95; ++i) {
    bench.Add(kSilver, i);
    EXPECT_EQ(bench.Pick(i), kSilver);
  }
  EXPECT_FALSE(bench.scheduler.IsOverloaded(At(100)));
  for (int i = 0; i < 6; ++i) bench.Add(kSilver, 100);
  EXPECT_EQ(bench.Pick(2200), std::nullopt);
  EXPECT_EQ(bench.dropped, 6u);
  EXPECT_TRUE(bench.scheduler.IsOverloaded(At(2200)));
  const auto choose = [&](int64_t now_ms) {  // yid: bronze, with 50 ms left; greedy: gold
    bench.Add(kBronze, now_ms - 1850);
    bench.Add(kGold, now_ms);
    const std::optional<ClassNumber> chosen = bench.Pick(now_ms);
    bench.Pick(now_ms);
    return chosen;
  };
  EXPECT_EQ(choose(5'000), kGold);
  EXPECT_EQ(choose(40'000), kBronze) << "the drops are out of the window";
}

// With enough time no request loses yield by waiting, and deadlines decide.
TEST(ClassSchedulerTest, WaitingCostFollowsDeadlinesWhileThereIsTime) {
  Bench bench(Memberships(SchedulingPolicy::kWaitingCost));
  bench.Teach(kGold, milliseconds(10));
  bench.Teach(kBronze, milliseconds(10));
  bench.Add(kBronze, 0);
  bench.Add(kGold, 1850);
  EXPECT_EQ(bench.Pick(1900), kBronze);
}

// Under overload the old requests, which have lost their yield, are left; and the class with the
// larger yield per consumption comes first.
TEST(ClassSchedulerTest, WaitingCostIsGreedyForTheFreshUnderOverload) {
  Bench bench(Memberships(SchedulingPolicy::kWaitingCost));
  for (const ClassNumber number : {kGold, kSilver, kBronze}) bench.Teach(number, milliseconds(250));
  RequestTicket newest_silver = 0;
  for (int i = 0; i < 30; ++i) {
    bench.Add(kBronze, 50 * i);
    newest_silver = bench.Add(kSilver, 50 * i);
  }
  EXPECT_EQ(bench.PickRequest(1500).next->ticket, newest_silver);
  bench.Add(kGold, 1500);
  EXPECT_EQ(bench.Pick(1500), kGold);
}

TEST(ClassSchedulerTest, WaitingCostServesClassesWithoutAYieldByTheCallersDeadline) {
  SchedulerOptions options;
  options.policy = SchedulingPolicy::kWaitingCost;
  Bench bench(options);
  bench.Add(0, 0);
  const RequestTicket urgent = bench.Add(0, 1, At(500));
  EXPECT_EQ(bench.PickRequest(10).next->ticket, urgent);
}

TEST(ClassSchedulerTest, ClassBelowItsShareComesFirstAndTheLargestGapBeforeOthers) {
  Bench bench(Memberships(SchedulingPolicy::kGreedy, 0.2));
  bench.Teach(kGold, milliseconds(100), 90);
  bench.Teach(kSilver, milliseconds(100), 9);
  bench.Teach(kBronze, milliseconds(100), 1);
  bench.Add(kGold, 0);
  bench.Add(kSilver, 0);
  bench.Add(kBronze, 0);
  EXPECT_EQ(bench.Pick(1), kBronze);
  EXPECT_EQ(bench.Pick(1), kSilver);
  EXPECT_EQ(bench.Pick(1), kGold);
}

// With all classes saturated, each gets at least its share, whatever the policy prefers.
TEST(ClassSchedulerTest, SharesHoldUnderSaturation) {
  RandomSource random(11);
  Bench bench(Memberships(SchedulingPolicy::kGreedy, 0.2));
  std::map<ClassNumber, double> used;
  double all = 0;
  int64_t now_ms = 0;
  while (now_ms < 300'000) {
    for (const ClassNumber number : {kGold, kSilver, kBronze}) {
      while (bench.scheduler.length_of(number) < 10) bench.Add(number, now_ms);
    }
    const std::optional<ClassNumber> chosen = bench.Pick(now_ms);
    ASSERT_TRUE(chosen);
    const auto took = milliseconds(1 + random.Below(200));
    now_ms += took.count();
    bench.scheduler.OnServed(*chosen, took, took, At(now_ms));
    used[*chosen] += ToSeconds(took);
    all += ToSeconds(took);
  }
  EXPECT_GT(used[kSilver] / all, 0.19);
  EXPECT_GT(used[kBronze] / all, 0.19);
  EXPECT_GT(used[kGold] / all, 0.55);
}

// Bronze had all capacity for a while; it still gets its fifth at once, not only after its decayed
// share has come down.
TEST(ClassSchedulerTest, SharesOfWaitingCostHoldOverShortIntervals) {
  Bench bench(Memberships(SchedulingPolicy::kWaitingCost, 0.2));
  const auto serve = [&](int64_t now_ms) {
    const std::optional<ClassNumber> picked = bench.Pick(now_ms);
    if (picked) {
      bench.scheduler.OnServed(*picked, milliseconds(100), milliseconds(100), At(now_ms + 100));
    }
    return picked;
  };
  int64_t now_ms = 0;
  for (; now_ms < 60'000; now_ms += 100) {
    bench.Add(kBronze, now_ms);
    serve(now_ms);
  }
  EXPECT_GT(bench.scheduler.ShareOf(kBronze), 0.9);
  int bronze = 0;
  for (const int64_t end_ms = now_ms + 2'000; now_ms < end_ms; now_ms += 100) {
    bench.Add(kGold, now_ms);
    bench.Add(kBronze, now_ms);
    bronze += serve(now_ms) == kBronze;
  }
  EXPECT_GE(bronze, 3) << "of 20";
}

TEST(ClassSchedulerTest, RequestsThatWouldBeLateAreDropped) {
  Bench bench(Memberships(SchedulingPolicy::kYid));
  bench.Teach(kGold, milliseconds(300));
  bench.Add(kGold, 0);
  bench.Add(kGold, 500);
  EXPECT_EQ(bench.Pick(1800), kGold) << "the second; the first would end after 2.1 s";
  EXPECT_EQ(bench.dropped, 1u);
}

TEST(ClassSchedulerTest, OnlyLateRequestsAreDroppedWithoutADropShare) {
  SchedulerOptions options = Memberships(SchedulingPolicy::kYid);
  options.drop_share.reset();
  Bench bench(options);
  bench.Teach(kGold, milliseconds(300));
  bench.Add(kGold, 0);
  bench.Add(kGold, 1);
  EXPECT_EQ(bench.Pick(1999), kGold);
  EXPECT_EQ(bench.Pick(2001), std::nullopt);
  EXPECT_EQ(bench.dropped, 1u);
}

TEST(ClassSchedulerTest, ADropShareOfHalfDropsRequestsOfLittleYield) {
  SchedulerOptions options = Memberships(SchedulingPolicy::kYid);
  options.drop_share = 0.75;
  Bench bench(options);
  bench.Add(kGold, 0);
  bench.Add(kGold, 600);
  EXPECT_EQ(bench.Pick(1600), kGold);
  EXPECT_EQ(bench.dropped, 1u);
}

TEST(ClassSchedulerTest, ClassWithoutAYieldLastsUntilTheCallersDeadline) {
  SchedulerOptions options;
  options.drop_share.reset();
  Bench bench(options);
  bench.Add(0, 0, At(5000));
  bench.Add(0, 0);
  EXPECT_EQ(bench.Pick(100'000), 0u);
  EXPECT_EQ(bench.dropped, 1u);
}

TEST(ClassSchedulerTest, FullQueueRefusesItsOwnClassOnly) {
  Bench bench(Memberships(SchedulingPolicy::kYid));
  for (int i = 0; i < 40; ++i) bench.Add(kBronze, 0);
  EXPECT_EQ(bench.scheduler.Push({1000, At(0), kNever, kBronze}),
            ClassScheduler::Entry::kQueueFull);
  bench.Add(kGold, 0);
  EXPECT_EQ(bench.scheduler.length(), 41u);
}

// One slow request must not exclude a class forever.
TEST(ClassSchedulerTest, AClassThatOnceTookTooLongIsTriedAgain) {
  Bench bench(Memberships(SchedulingPolicy::kAdaptive));
  bench.Teach(kGold, seconds(3));
  int64_t now_ms = 0;
  size_t tried_count = 0;
  for (int i = 0; i < 100 && tried_count == 0; ++i) {
    bench.Add(kGold, ++now_ms);
    tried_count += bench.Pick(now_ms) == kGold;
  }
  EXPECT_EQ(tried_count, 1u);
  EXPECT_GT(bench.dropped, 20u);
}

TEST(ClassSchedulerTest, FifoRefusesRequestsThatWouldWaitForHalfOfTheirTime) {
  SchedulerOptions options;
  options.policy = SchedulingPolicy::kFifo;
  Bench bench(options);
  for (int64_t i = 0; i < 20; ++i) bench.Add(0, 0, At(10'000));
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(bench.Pick(10 * i), 0u);  // one each 10 ms, 10 left
  const auto push = [&](TimePoint deadline) {
    return bench.scheduler.Push({1000, At(100), deadline, 0});
  };
  EXPECT_EQ(push(At(100 + 199)), ClassScheduler::Entry::kWaitTooLong);
  EXPECT_EQ(push(At(100 + 201)), ClassScheduler::Entry::kTaken);
  EXPECT_EQ(push(kNever), ClassScheduler::Entry::kTaken);
}

TEST(ClassSchedulerTest, IdleTimeBetweenPicksDoesNotCountAsPace) {
  SchedulerOptions options;
  options.policy = SchedulingPolicy::kFifo;
  Bench bench(options);
  for (int64_t i = 0; i < 50; ++i) {
    bench.Add(0, 1000 * i);
    EXPECT_EQ(bench.Pick(1000 * i), 0u);
  }
  for (int i = 0; i < 30; ++i) bench.Add(0, 50'000, At(50'010));
  EXPECT_EQ(bench.scheduler.length(), 30u);
}

TEST(ClassSchedulerTest, RemovedRequestIsNotPicked) {
  Bench bench(Memberships(SchedulingPolicy::kYid));
  const RequestTicket gone = bench.Add(kGold, 0);
  bench.Add(kBronze, 0);
  EXPECT_TRUE(bench.scheduler.Remove(gone));
  EXPECT_FALSE(bench.scheduler.Remove(gone));
  EXPECT_EQ(bench.Pick(1), kBronze);
  EXPECT_EQ(bench.scheduler.OldestArrival(), kNever);
}

TEST(ClassSchedulerTest, ClassesAreFoundByName) {
  SchedulerOptions options = Memberships(SchedulingPolicy::kYid);
  EXPECT_EQ(FindClass(options, "silver"), kSilver);
  EXPECT_EQ(FindClass(options, "platinum"), std::nullopt);
  options.default_class = kBronze;
  EXPECT_TRUE(CheckSchedulerOptions(options).ok());
  options.default_class = 3;
  EXPECT_FALSE(CheckSchedulerOptions(options).ok());
}

TEST(ClassSchedulerTest, AGuaranteeIsKeptWithRequestsThatStillYield) {
  Bench bench(Memberships(SchedulingPolicy::kWaitingCost, 0.2));
  for (const ClassNumber number : {kGold, kSilver, kBronze}) {
    bench.Teach(number, milliseconds(100));
  }
  for (int64_t i = 0; i < 20; ++i) {
    bench.Add(kGold, 10 * i);
    EXPECT_EQ(bench.Pick(10 * i), kGold);
  }
  for (int i = 0; i < 30; ++i) bench.Add(kGold, 1'990);
  bench.Add(kBronze, 150);  // would hardly complete in time
  for (int i = 0; i < 30; ++i) bench.Add(kBronze, 1'990);
  const RequestTicket newest = bench.Add(kBronze, 1'995);
  const ClassScheduler::Picked picked = bench.PickRequest(2'000);
  ASSERT_TRUE(picked.next);
  EXPECT_EQ(picked.next->ticket, newest);
}

TEST(ClassSchedulerTest, AClassWithoutAFreeThreadWaits) {
  for (int policy = 0; policy < 6; ++policy) {
    Bench bench(Memberships(static_cast<SchedulingPolicy>(policy), 1.0 / 3));
    bench.threads.SetShares({.all = 10, .own = {1}});
    bench.threads.Take(kGold);
    bench.Add(kGold, 0);
    bench.Add(kBronze, 1);
    EXPECT_EQ(bench.Pick(2), kBronze) << policy;
    EXPECT_EQ(bench.Pick(2), std::nullopt) << policy;
    bench.threads.Free(kGold);
    EXPECT_EQ(bench.Pick(2), kGold) << policy;
  }
}

// Every request is returned exactly once, whatever happens, and never after its deadline.
TEST(ClassSchedulerTest, EachRequestIsServedOnce) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomSource random(seed);
    ClassScheduler scheduler(
        Memberships(static_cast<SchedulingPolicy>(random.Below(6)), random.Uniform() / 3));
    const ClassThreads threads({.all = 1}, 3);
    std::map<RequestTicket, TimePoint> waiting;
    RequestTicket ticket = 0;
    int64_t now_ms = 0;
    for (int step = 0; step < 3000; ++step) {
      now_ms += static_cast<int64_t>(random.Below(60));
      const uint64_t draw = random.Below(10);
      if (draw < 5) {
        const WaitingRequest request{++ticket, At(now_ms), kNever,
                                     static_cast<ClassNumber>(random.Below(3))};
        if (scheduler.Push(request) == ClassScheduler::Entry::kTaken) {
          waiting[ticket] = request.arrived;
        }
      } else if (draw < 9) {
        const ClassScheduler::Picked picked = scheduler.Pick(At(now_ms), threads);
        for (const WaitingRequest& dropped : picked.dropped) {
          ASSERT_EQ(waiting.erase(dropped.ticket), 1u);
        }
        if (picked.next) {
          ASSERT_EQ(waiting.erase(picked.next->ticket), 1u);
          ASSERT_LT(At(now_ms) - picked.next->arrived, seconds(2));
          scheduler.OnServed(picked.next->service_class, milliseconds(random.Below(100)),
                             milliseconds(random.Below(100)), At(now_ms));
        }
      } else if (!waiting.empty()) {
        ASSERT_TRUE(scheduler.Remove(waiting.begin()->first));
        waiting.erase(waiting.begin());
      }
      ASSERT_EQ(scheduler.length(), waiting.size());
    }
  }
}

TEST(ClassSchedulerTest, RefusesInvalidOptions) {
  const auto fault = [](auto change) {
    SchedulerOptions options = Memberships(SchedulingPolicy::kYid, 0.3);
    change(options);
    return CheckSchedulerOptions(options);
  };
  EXPECT_TRUE(fault([](SchedulerOptions&) {}).ok());
  EXPECT_TRUE(fault([](SchedulerOptions& o) { o.classes[0].guarantee = 0.4; }).ok());
  EXPECT_FALSE(fault([](SchedulerOptions& o) { o.classes[0].guarantee = 0.41; }).ok());
  EXPECT_FALSE(fault([](SchedulerOptions& o) { o.classes[0].guarantee = -0.1; }).ok());
  EXPECT_FALSE(fault([](SchedulerOptions& o) { o.classes[1].name = "gold"; }).ok());
  EXPECT_FALSE(fault([](SchedulerOptions& o) { o.classes[1].queue_length_max = 0; }).ok());
  EXPECT_FALSE(fault([](SchedulerOptions& o) { o.drop_share = 1; }).ok());
  EXPECT_FALSE(fault([](SchedulerOptions& o) { o.classes.clear(); }).ok());
  EXPECT_FALSE(fault([](SchedulerOptions& o) {
                 while (o.classes.size() <= kServiceClassCountMax) {
                   o.classes.push_back({.name = StrCat(o.classes.size())});
                 }
               }).ok());
  EXPECT_EQ(*ParseSchedulingPolicy("greedy"), SchedulingPolicy::kGreedy);
  EXPECT_FALSE(ParseSchedulingPolicy("best").ok());
}

}  // namespace
}  // namespace neptune
