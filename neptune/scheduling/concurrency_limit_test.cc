#include "neptune/scheduling/concurrency_limit.h"

#include <gtest/gtest.h>

#include <deque>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

TimePoint At(double ms) { return TimePoint(FromSeconds(ms / 1e3)); }

TEST(ConcurrencyLimitTest, DoublesUntilTheFirstSignOfOverload) {
  ConcurrencyLimit limit({.initial = 10});
  for (int i = 0; i < 10; ++i) limit.OnEnd({.begun = At(0)}, 20, At(1));
  EXPECT_EQ(limit.limit(), 20u);
}

TEST(ConcurrencyLimitTest, ThenGrowsByOneForEachLimitOfRequests) {
  ConcurrencyLimit limit({.initial = 20});
  limit.OnEnd({.begun = At(0), .refused = true}, 20, At(1));
  EXPECT_EQ(limit.limit(), 17u);
  for (int i = 0; i < 18; ++i) limit.OnEnd({.begun = At(1)}, 17, At(2));
  EXPECT_EQ(limit.limit(), 18u);
}

TEST(ConcurrencyLimitTest, DoesNotGrowWhileServersAreBusy) {
  ConcurrencyLimit limit({.initial = 10});
  const RequestEnd waited = {
      .begun = At(0), .server_wait = milliseconds(13), .server_run = milliseconds(2)};
  for (int i = 0; i < 100; ++i) limit.OnEnd(waited, 10, At(1));
  EXPECT_EQ(limit.limit(), 10u);
  for (int i = 0; i < 5; ++i) limit.OnEnd({.begun = At(2)}, 10, At(3));
  EXPECT_EQ(limit.limit(), 10u) << "it does not double any more";
  for (int i = 0; i < 6; ++i) limit.OnEnd({.begun = At(2)}, 10, At(3));
  EXPECT_EQ(limit.limit(), 11u);
}

TEST(ConcurrencyLimitTest, DoesNotGrowWhileHardlyUsed) {
  ConcurrencyLimit limit({.initial = 10});
  for (int i = 0; i < 100; ++i) limit.OnEnd({.begun = At(0)}, 4, At(1));
  EXPECT_EQ(limit.limit(), 10u);
}

TEST(ConcurrencyLimitTest, LearnsNothingFromRequestsWhoseCallerLeft) {
  ConcurrencyLimit limit({.initial = 10});
  for (int i = 0; i < 100; ++i) limit.OnEnd({.begun = At(0), .abandoned = true}, 20, At(1));
  EXPECT_EQ(limit.limit(), 10u);
}

TEST(ConcurrencyLimitTest, IsCutOnceForRequestsBegunBeforeTheCut) {
  ConcurrencyLimit limit({.initial = 100, .decrease = 0.5});
  for (int i = 0; i < 100; ++i) limit.OnEnd({.begun = At(0), .refused = true}, 100, At(10));
  EXPECT_EQ(limit.limit(), 50u);
  limit.OnEnd({.begun = At(11), .server_wait = milliseconds(21)}, 50, At(20));
  EXPECT_EQ(limit.limit(), 25u);
  limit.OnEnd({.begun = At(21), .server_wait = milliseconds(20)}, 25, At(30));
  EXPECT_EQ(limit.limit(), 25u) << "the goal is met";
}

TEST(ConcurrencyLimitTest, IsCutInProportionToTheExcessWait) {
  const auto after = [](Duration wait, Duration run) {
    ConcurrencyLimit limit({.initial = 100});
    limit.OnEnd({.begun = At(0), .server_wait = wait, .server_run = run}, 10, At(1));
    return limit.limit();
  };
  EXPECT_EQ(after(milliseconds(21), Duration(0)), 85u);
  EXPECT_EQ(after(milliseconds(30), Duration(0)), 66u);
  EXPECT_EQ(after(milliseconds(500), Duration(0)), 50u);
  EXPECT_EQ(after(milliseconds(500), milliseconds(240)), 100u) << "long requests wait longer";
}

TEST(ConcurrencyLimitTest, StaysWithinItsBounds) {
  ConcurrencyLimit limit({.initial = 8, .min = 3, .max = 9});
  for (int i = 0; i < 100; ++i) limit.OnEnd({.begun = At(i), .refused = true}, 8, At(i));
  EXPECT_EQ(limit.limit(), 3u);
  for (int i = 0; i < 1000; ++i) limit.OnEnd({.begun = At(1000 + i)}, 9, At(1000 + i));
  EXPECT_EQ(limit.limit(), 9u);
}

// One server with four threads of 10 ms and unlimited demand: it stays busy, and its queue stays
// short.
TEST(ConcurrencyLimitTest, KeepsAServerBusyAndItsQueueShort) {
  for (const uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomSource random(seed);
    ConcurrencyLimit limit({.initial = 200});
    struct Served {
      double begun_ms;
      double wait_ms;
      double ends_ms;
    };
    std::deque<Served> under_way;  // ordered by end
    std::vector<double> thread_free_ms(4, 0);
    double now_ms = 0;
    int served = 0;
    double waited_ms = 0;
    while (now_ms < 20'000) {
      while (under_way.size() < limit.limit()) {
        auto& thread = *std::min_element(thread_free_ms.begin(), thread_free_ms.end());
        const double begin_ms = std::max(now_ms, thread);
        thread = begin_ms + 5 + 10 * random.Uniform();
        const Served one{now_ms, begin_ms - now_ms, thread};
        under_way.insert(std::upper_bound(under_way.begin(), under_way.end(), one,
                                          [](const Served& a, const Served& b) {
                                            return a.ends_ms < b.ends_ms;
                                          }),
                         one);
      }
      const Served first = under_way.front();
      now_ms = first.ends_ms;
      limit.OnEnd({.begun = At(first.begun_ms), .server_wait = FromSeconds(first.wait_ms / 1e3)},
                  under_way.size(), At(now_ms));
      under_way.pop_front();
      if (now_ms < 5'000) continue;
      ++served;
      waited_ms += first.wait_ms;
    }
    EXPECT_GT(served, 0.97 * 15'000 / 10 * 4);
    EXPECT_LT(waited_ms / served, 25);
  }
}

}  // namespace
}  // namespace neptune
