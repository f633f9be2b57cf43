#include "neptune/world/sim/sim_faults.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace neptune {
namespace {

using Kind = Fault::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint At(int s) { return TimePoint(seconds(s)); }

class SimFaultsTest : public testing::Test {
 protected:
  SimFaultsTest() {
    for (const char* name : {"a", "b", "c"}) simulator_.AddHost({.name = name});
  }

  // Whether a datagram from one host arrives at another within a second from now.
  bool Reaches(const std::string& from, const std::string& to) {
    bool has_arrived = false;
    const auto receiver =
        OpenSocket(to, [&](const Endpoint&, std::string_view) { has_arrived = true; });
    const auto sender = OpenSocket(from, [](const Endpoint&, std::string_view) {});
    EXPECT_TRUE(sender->SendTo(receiver->local(), "x").ok());
    simulator_.RunFor(seconds(1));
    return has_arrived;
  }

  std::unique_ptr<DatagramSocket> OpenSocket(const std::string& host,
                                             Network::DatagramHandler on_datagram) {
    Loop& loop = **simulator_.host(host).StartLoop({.name = "loop"});
    return *loop.network().OpenDatagram({.bind = {simulator_.host(host).address(), 0}},
                                        std::move(on_datagram));
  }

  Simulator simulator_{1};
};

TEST_F(SimFaultsTest, FaultsBeginAndEndAtTheirTimes) {
  ScheduleFaults(simulator_, {{At(1), At(3), {.kind = Kind::kCrash, .hosts = {"a"}}},
                              {At(2), At(4), {.kind = Kind::kDatagramLoss, .amount = 0.5}},
                              {At(2), At(5), {.kind = Kind::kLatency, .amount = 3}}});
  simulator_.RunUntil(At(2));
  EXPECT_FALSE(simulator_.host("a").running());
  EXPECT_EQ(simulator_.links().datagram_loss, 0.5);
  EXPECT_EQ(simulator_.links().latency_factor, 3);
  simulator_.RunUntil(At(4));
  EXPECT_TRUE(simulator_.host("a").running());
  EXPECT_EQ(simulator_.links().datagram_loss, 0);
  simulator_.RunUntil(At(5));
  EXPECT_EQ(simulator_.links().latency_factor, 1);
}

TEST_F(SimFaultsTest, ClockJumpsThereAndBack) {
  World& world = simulator_.host("a");
  const auto shown = [&] {
    return Duration(world.wall_time().ns_since_1970 - SimOptions().wall_time_start_ns);
  };
  const Fault slow_clock = {.kind = Kind::kClockOffset, .hosts = {"a"}, .amount = -60};
  ScheduleFaults(simulator_, {{At(1), At(3), slow_clock}});
  simulator_.RunUntil(At(2));
  EXPECT_EQ(shown(), seconds(2 - 60));
  simulator_.Restart("a");
  EXPECT_EQ(shown(), seconds(2 - 60)) << "a restart does not set the clock";
  simulator_.RunUntil(At(4));
  EXPECT_EQ(shown(), seconds(4));
}

TEST_F(SimFaultsTest, FullDiskTakesNoWritesUntilItEnds) {
  ScheduleFaults(simulator_, {{At(1), At(2), {.kind = Kind::kFullDisk, .hosts = {"a"}}}});
  const auto write = [&] {
    auto store = *simulator_.host("a").storage().Open("s");
    return store->Put("k", "v", WriteMode::kSynced);
  };
  EXPECT_TRUE(write().ok());
  simulator_.RunUntil(At(1));
  EXPECT_EQ(write().code(), absl::StatusCode::kResourceExhausted);
  simulator_.RunUntil(At(2));
  EXPECT_TRUE(write().ok());
}

TEST_F(SimFaultsTest, IsolatedHostReachesNoOtherUntilItEnds) {
  ScheduleFaults(simulator_, {{At(0), At(9), {.kind = Kind::kIsolate, .hosts = {"a"}}}});
  simulator_.RunUntil(At(1));
  EXPECT_FALSE(Reaches("a", "b"));
  EXPECT_FALSE(Reaches("c", "a"));
  EXPECT_TRUE(Reaches("b", "c"));
  simulator_.RunUntil(At(9));
  EXPECT_TRUE(Reaches("a", "b"));
}

TEST_F(SimFaultsTest, KindsOfProgramsAreRefused) {
  SimFaultTarget target(simulator_);
  for (const Kind kind : {Kind::kLeave, Kind::kHang}) {
    EXPECT_EQ(CheckSupported(target, {{At(0), At(1), {.kind = kind, .hosts = {"a"}}}}).code(),
              absl::StatusCode::kUnimplemented);
  }
}

TEST_F(SimFaultsTest, EveryOtherKindBeginsAndEnds) {
  SimFaultTarget target(simulator_);
  for (const FaultTraits& traits : AllFaultTraits()) {
    if (!target.Supports(traits.kind)) continue;
    Fault fault = {.kind = traits.kind, .amount = 0.5};
    if (traits.scope != FaultScope::kNetwork) fault.hosts = {"a"};
    if (traits.scope == FaultScope::kSides) fault.others = {"b"};
    EXPECT_TRUE(target.Begin(fault).ok()) << traits.name;
    simulator_.RunFor(milliseconds(1));
    EXPECT_TRUE(target.End(fault).ok()) << traits.name;
  }
  EXPECT_TRUE(simulator_.host("a").running());
  EXPECT_TRUE(Reaches("a", "b"));
}

}  // namespace
}  // namespace neptune
