// Equal work of user-level threads, in virtual time.

#include "frontend/caching/single_flight.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "neptune/thread/user_thread.h"
#include "neptune/world/sim/simulator.h"

namespace search::frontend {
namespace {

using neptune::ThreadScheduler;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Asker {
  std::optional<FlightRole> role;
  int value = 0;
  bool has_waited = false;
  neptune::TimePoint done_at;
};

class SingleFlightTest : public testing::Test {
 protected:
  SingleFlightTest() : loop_(**simulator_.AddHost({.name = "a"}).StartLoop({.name = "test"})) {
    loop_.Post([this] { threads_ = std::make_unique<ThreadScheduler>(loop_); });
    simulator_.RunFor(milliseconds(1));
    start_ = simulator_.now();
  }
  ~SingleFlightTest() override {
    loop_.Post([this] { threads_->Stop(); });
    simulator_.RunFor(seconds(10));
    loop_.Post([this] { threads_.reset(); });
    simulator_.RunFor(seconds(1));
  }

  SingleFlight<int>& Open(size_t waiter_count_max) { return flights_.emplace(waiter_count_max); }

  // An asker that works for `work` if it leads, then lands `value`; negative: it fails.
  std::shared_ptr<Asker> Ask(SingleFlight<int>& flights, const std::string& key, milliseconds work,
                             int value, milliseconds patience = seconds(100)) {
    auto asker = std::make_shared<Asker>();
    loop_.Post([=, this, &flights] {
      EXPECT_TRUE(threads_
                      ->Spawn([=, this, &flights] {
                        auto seat = flights.Board(key, loop_.Now() + patience);
                        asker->role = seat.role();
                        asker->has_waited = seat.has_waited();
                        if (seat.role() == FlightRole::kLanded) asker->value = seat.value();
                        if (seat.role() == FlightRole::kLeads) {
                          (void)neptune::this_thread::SleepFor(work);
                          if (value >= 0) seat.Land([value] { return value; });
                          asker->value = value;
                        }
                        asker->done_at = loop_.Now();
                      })
                      .ok());
    });
    simulator_.RunFor(milliseconds(1));
    return asker;
  }
  milliseconds TimeOf(const Asker& asker) const {
    return std::chrono::duration_cast<milliseconds>(asker.done_at - start_);
  }

  neptune::Simulator simulator_{1};
  neptune::Loop& loop_;
  std::unique_ptr<ThreadScheduler> threads_;
  neptune::TimePoint start_;
  std::optional<SingleFlight<int>> flights_;  // outlives the askers
};

TEST_F(SingleFlightTest, EqualWorkIsDoneOnce) {
  SingleFlight<int>& flights = Open(10);
  const auto first = Ask(flights, "a", milliseconds(50), 7);
  const auto second = Ask(flights, "a", milliseconds(50), 8);
  const auto third = Ask(flights, "a", milliseconds(50), 9);
  const auto other = Ask(flights, "b", milliseconds(10), 3);
  EXPECT_TRUE(flights.IsUnderWay("a"));
  EXPECT_EQ(flights.waiter_count(), 2u);
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(first->role, FlightRole::kLeads);
  EXPECT_EQ(second->role, FlightRole::kLanded);
  EXPECT_EQ(third->role, FlightRole::kLanded);
  EXPECT_EQ(second->value, 7);
  EXPECT_EQ(third->value, 7);
  EXPECT_EQ(TimeOf(*third), TimeOf(*first));
  EXPECT_EQ(other->role, FlightRole::kLeads);
  EXPECT_FALSE(flights.IsUnderWay("a"));
  EXPECT_EQ(flights.waiter_count(), 0u);
  const auto later = Ask(flights, "a", milliseconds(1), 10);
  simulator_.RunFor(milliseconds(5));
  EXPECT_EQ(later->role, FlightRole::kLeads) << "nothing is kept";
}

TEST_F(SingleFlightTest, OneOfThoseWhoWaitTakesOverFromALeaderThatFails) {
  SingleFlight<int>& flights = Open(10);
  const auto first = Ask(flights, "a", milliseconds(20), -1);
  const auto second = Ask(flights, "a", milliseconds(20), -1);
  const auto third = Ask(flights, "a", milliseconds(20), 5);
  const auto fourth = Ask(flights, "a", milliseconds(20), 6);
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(first->role, FlightRole::kLeads);
  EXPECT_EQ(second->role, FlightRole::kLeads);
  EXPECT_TRUE(second->has_waited);
  EXPECT_EQ(third->role, FlightRole::kLeads);
  EXPECT_EQ(fourth->role, FlightRole::kLanded);
  EXPECT_EQ(fourth->value, 5);
  EXPECT_FALSE(flights.IsUnderWay("a"));
}

TEST_F(SingleFlightTest, EachAskerHasADeadlineOfItsOwn) {
  SingleFlight<int>& flights = Open(10);
  Ask(flights, "a", milliseconds(100), 7);
  const auto hasty = Ask(flights, "a", milliseconds(1), 8, milliseconds(20));
  const auto patient = Ask(flights, "a", milliseconds(1), 9);
  simulator_.RunFor(milliseconds(50));
  EXPECT_EQ(hasty->role, FlightRole::kLate);
  EXPECT_EQ(flights.waiter_count(), 1u);
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(patient->value, 7);
}

TEST_F(SingleFlightTest, OverTheLimitEachWorksForItself) {
  SingleFlight<int>& flights = Open(1);
  Ask(flights, "a", milliseconds(50), 7);
  Ask(flights, "a", milliseconds(50), 8);
  const auto third = Ask(flights, "a", milliseconds(50), 9);
  EXPECT_EQ(third->role, FlightRole::kFull);
  const auto other = Ask(flights, "b", milliseconds(1), 1);
  EXPECT_EQ(other->role, FlightRole::kLeads) << "only waiting is limited";
}

TEST_F(SingleFlightTest, AStopEndsEveryWait) {
  SingleFlight<int>& flights = Open(10);
  Ask(flights, "a", seconds(5), 7);
  const auto second = Ask(flights, "a", milliseconds(50), 8);
  loop_.Post([this] { threads_->Stop(); });
  simulator_.RunFor(milliseconds(10));
  ASSERT_TRUE(second->role.has_value());
  EXPECT_FALSE(flights.IsUnderWay("a"));
}

}  // namespace
}  // namespace search::frontend
