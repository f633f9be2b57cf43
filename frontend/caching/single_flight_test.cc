// Equal work of user-level threads, in virtual time.

#include "frontend/caching/single_flight.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "neptune/thread/user_thread.h"
#include "neptune/wire/incoming_call.h"
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
  bool was_cancelled = false;  // the work that it led
  neptune::TimePoint done_at;
};

std::shared_ptr<neptune::IncomingCall> Client() {
  return std::make_shared<neptune::IncomingCall>();
}

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
                             int value, milliseconds patience = seconds(100),
                             const std::shared_ptr<neptune::IncomingCall>& client = nullptr) {
    auto asker = std::make_shared<Asker>();
    loop_.Post([=, this, &flights] {
      EXPECT_TRUE(threads_
                      ->Spawn([=, this, &flights] {
                        auto seat = flights.Board(key, loop_.Now() + patience, client);
                        asker->role = seat.role();
                        asker->has_waited = seat.has_waited();
                        if (seat.role() == FlightRole::kLanded) asker->value = seat.value();
                        if (seat.role() == FlightRole::kLeads) {
                          asker->was_cancelled = !Work(work, *seat.call());
                          const bool lands = value >= 0 && !asker->was_cancelled;
                          if (lands) seat.Land([value] { return value; });
                          asker->value = value;
                        }
                        asker->done_at = loop_.Now();
                      })
                      .ok());
    });
    simulator_.RunFor(milliseconds(1));
    return asker;
  }
  // False: the work was ended; it takes kWindingDown to notice.
  bool Work(milliseconds work, const neptune::IncomingCall& call) {
    const neptune::TimePoint end = loop_.Now() + work;
    while (loop_.Now() < end && !call.cancelled()) {
      if (neptune::this_thread::SleepFor(milliseconds(1)) == neptune::ParkResult::kStopping) break;
    }
    if (call.cancelled()) (void)neptune::this_thread::SleepFor(kWindingDown);
    return !call.cancelled();
  }
  void Leave(const std::shared_ptr<neptune::IncomingCall>& client) {
    loop_.Post([client] { client->Cancel(); });
    simulator_.RunFor(milliseconds(1));
  }
  milliseconds TimeOf(const Asker& asker) const {
    return std::chrono::duration_cast<milliseconds>(asker.done_at - start_);
  }

  static constexpr milliseconds kWindingDown{10};

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

TEST_F(SingleFlightTest, TheWorkGoesOnWhileAnyAskerWantsIt) {
  SingleFlight<int>& flights = Open(10);
  const auto first_client = Client();
  const auto second_client = Client();
  const auto first = Ask(flights, "a", milliseconds(50), 7, seconds(100), first_client);
  const auto second = Ask(flights, "a", milliseconds(50), 8, seconds(100), second_client);
  const auto third = Ask(flights, "a", milliseconds(50), 9, seconds(100), Client());
  Leave(first_client);
  Leave(second_client);
  EXPECT_EQ(second->role, FlightRole::kGone) << "it does not wait for what is not read";
  EXPECT_EQ(flights.waiter_count(), 1u);
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(first->role, FlightRole::kLeads);
  EXPECT_FALSE(first->was_cancelled);
  EXPECT_EQ(third->role, FlightRole::kLanded);
  EXPECT_EQ(third->value, 7);
  EXPECT_LE(TimeOf(*third), milliseconds(52));
}

TEST_F(SingleFlightTest, TheWorkEndsWhenTheLastAskerHasLeft) {
  for (const bool leader_first : {false, true}) {
    SingleFlight<int>& flights = Open(10);
    const auto leaders = Client();
    const auto waiters = Client();
    const auto first = Ask(flights, "a", seconds(50), 7, seconds(100), leaders);
    const auto second = Ask(flights, "a", seconds(50), 8, seconds(100), waiters);
    Leave(leader_first ? leaders : waiters);
    simulator_.RunFor(seconds(1));
    EXPECT_TRUE(flights.IsUnderWay("a"));
    Leave(leader_first ? waiters : leaders);
    simulator_.RunFor(milliseconds(20));
    EXPECT_TRUE(first->was_cancelled) << leader_first;
    EXPECT_EQ(second->role, FlightRole::kGone);
    EXPECT_FALSE(flights.IsUnderWay("a"));
    EXPECT_EQ(flights.waiter_count(), 0u);
  }
}

TEST_F(SingleFlightTest, AnAskerThatIsLateCountsAsOneThatHasLeft) {
  SingleFlight<int>& flights = Open(10);
  const auto client = Client();
  const auto first = Ask(flights, "a", seconds(50), 7, seconds(100), client);
  const auto second = Ask(flights, "a", seconds(50), 8, milliseconds(100), Client());
  Leave(client);
  simulator_.RunFor(milliseconds(50));
  EXPECT_FALSE(first->was_cancelled);
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(second->role, FlightRole::kLate);
  EXPECT_TRUE(first->was_cancelled);
}

// The work was ended, and its leader has not noticed, when others come.
TEST_F(SingleFlightTest, WhoComesAfterAllHaveLeftGetsWorkOfItsOwn) {
  SingleFlight<int>& flights = Open(10);
  const auto client = Client();
  const auto first = Ask(flights, "a", seconds(50), 7, seconds(100), client);
  Leave(client);
  const auto late_client = Client();
  const auto second = Ask(flights, "a", milliseconds(30), 8, seconds(100), late_client);
  const auto third = Ask(flights, "a", milliseconds(30), 9, seconds(100), Client());
  simulator_.RunFor(milliseconds(20));
  EXPECT_TRUE(first->was_cancelled);
  Leave(late_client);
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(second->role, FlightRole::kLeads);
  EXPECT_TRUE(second->has_waited);
  EXPECT_FALSE(second->was_cancelled) << "the third waits for it";
  EXPECT_EQ(third->role, FlightRole::kLanded);
  EXPECT_EQ(third->value, 8);
}

TEST_F(SingleFlightTest, AnAskerWithoutAClientNeverLeaves) {
  SingleFlight<int>& flights = Open(10);
  const auto client = Client();
  const auto background = Ask(flights, "a", milliseconds(50), 7);
  Ask(flights, "a", milliseconds(50), 8, seconds(100), client);
  Leave(client);
  simulator_.RunFor(milliseconds(100));
  EXPECT_FALSE(background->was_cancelled);
}

}  // namespace
}  // namespace search::frontend
