#include "neptune/world/sim/sim_faults.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

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
  Loop& loop = **simulator_.host("a").StartLoop({.name = "of the program"});
  bool has_run = false;
  loop.RunAt(At(3), [&] { has_run = true; });
  simulator_.RunUntil(At(2));
  EXPECT_TRUE(write().ok());
  simulator_.RunUntil(At(4));
  EXPECT_TRUE(has_run) << "the program goes on";
}

TEST_F(SimFaultsTest, PowerFailsInTheNextFlush) {
  ScheduleFaults(simulator_, {{At(1), At(3), {.kind = Kind::kCrashInFlush, .hosts = {"a"}}}});
  simulator_.RunUntil(At(1));
  EXPECT_TRUE(simulator_.host("a").running());
  const auto file = *simulator_.host("a").sim_storage().log_files().Open("f");
  EXPECT_TRUE(file->WriteAt(0, "x").ok());
  EXPECT_FALSE(file->Sync().ok());
  simulator_.RunFor(milliseconds(1));
  EXPECT_FALSE(simulator_.host("a").running());
  simulator_.RunUntil(At(3));
  EXPECT_TRUE(simulator_.host("a").running());
}

TEST_F(SimFaultsTest, EventsOfALoopThatHangsWaitInTheirOrder) {
  Loop& other = **simulator_.host("a").StartLoop({.name = "other"});
  Loop& hung = **simulator_.host("a").StartLoop({.name = kHangingLoop});
  ScheduleFaults(simulator_, {{At(1), At(3), {.kind = Kind::kHungLoop, .hosts = {"a"}}}});
  std::vector<std::string> ran;
  for (const int s : {2, 4}) {
    hung.RunAt(At(s), [&ran, s] { ran.push_back("hung " + std::to_string(s)); });
    other.RunAt(At(s), [&ran, s] { ran.push_back("other " + std::to_string(s)); });
  }
  hung.RunAt(At(2), [&] { ran.push_back("hung again"); });
  simulator_.RunUntil(At(2));
  EXPECT_EQ(ran, (std::vector<std::string>{"other 2"}));
  EXPECT_EQ(simulator_.host("a").WaitingAt(kHangingLoop), 2u);
  simulator_.RunUntil(At(5));
  EXPECT_EQ(ran,
            (std::vector<std::string>{"other 2", "hung 2", "hung again", "hung 4", "other 4"}));
}

TEST_F(SimFaultsTest, ALoopHangsInAPausedHostToo) {
  Loop& hung = **simulator_.host("a").StartLoop({.name = kHangingLoop});
  ScheduleFaults(simulator_, {{At(1), At(3), {.kind = Kind::kPause, .hosts = {"a"}}},
                              {At(1), At(4), {.kind = Kind::kHungLoop, .hosts = {"a"}}}});
  bool has_run = false;
  hung.RunAt(At(2), [&] { has_run = true; });
  simulator_.RunUntil(TimePoint(milliseconds(3500)));
  EXPECT_FALSE(has_run);
  simulator_.RunUntil(At(4));
  EXPECT_TRUE(has_run);
}

TEST_F(SimFaultsTest, OnlyFaultsThatDisturbSomethingCountAsEffective) {
  SimFaultTarget target(simulator_);
  const Fault slow = {.kind = Kind::kSlowFlush, .hosts = {"a"}, .amount = 0.02};
  const auto file = *simulator_.host("a").sim_storage().log_files().Open("f");
  for (const bool flushes : {false, true}) {
    EXPECT_TRUE(target.Begin(slow).ok());
    if (flushes) {
      EXPECT_TRUE(file->Sync().ok());
    }
    EXPECT_TRUE(target.End(slow).ok());
  }
  EXPECT_EQ(target.counts().at(Kind::kSlowFlush).begun, 2u);
  EXPECT_EQ(target.counts().at(Kind::kSlowFlush).effective, 1u);
  const Fault cut = {.kind = Kind::kIsolate, .hosts = {"a"}};
  for (const bool sends : {false, true}) {
    EXPECT_TRUE(target.Begin(cut).ok());
    if (sends) {
      EXPECT_FALSE(Reaches("a", "b"));
    }
    EXPECT_TRUE(target.End(cut).ok());
  }
  EXPECT_EQ(target.counts().at(Kind::kIsolate).effective, 1u);
}

TEST_F(SimFaultsTest, BitFlipsInAHostThatIsDownOrRuns) {
  const auto write = [&] {
    const auto file = *simulator_.host("a").sim_storage().log_files().Open("f");
    return file->WriteAt(0, "x").ok() && file->Sync().ok();
  };
  ASSERT_TRUE(write());
  SimFaultTarget target(simulator_);
  for (const double amount : {0.0, 1.0}) {
    const Fault flip = {.kind = Kind::kBitFlip, .hosts = {"a"}, .amount = amount};
    EXPECT_TRUE(target.Begin(flip).ok());
    EXPECT_EQ(simulator_.host("a").running(), amount > 0);
    EXPECT_NE(simulator_.host("a").sim_storage().log_files().ContentsOf("f"), "x");
    EXPECT_TRUE(target.End(flip).ok());
    EXPECT_TRUE(simulator_.host("a").running());
    ASSERT_TRUE(write());
  }
  EXPECT_EQ(target.counts().at(Kind::kBitFlip).effective, 2u);
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

TEST_F(SimFaultsTest, KindsOfProgramsAndProcessesAreRefused) {
  SimFaultTarget target(simulator_);
  for (const Kind kind : {Kind::kLeave, Kind::kHang, Kind::kFloodShort, Kind::kMemoryLimit}) {
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
