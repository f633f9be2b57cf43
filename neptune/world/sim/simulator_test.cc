#include "neptune/world/sim/simulator.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/faults/fault_draw.h"
#include "neptune/world/sim/sim_faults.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint At(int64_t ms) { return TimePoint(milliseconds(ms)); }

// A node that gossips at random: uses enough features to make a run depend on the seed.
class Gossip {
 public:
  static constexpr Endpoint kGroup = {0xefc01a07, 7000};

  explicit Gossip(World& world) : world_(world), loop_(**world.StartLoop({.name = "gossip"})) {
    socket_ = *loop_.network().OpenDatagram({.multicast_group = kGroup},
                                            [this](const Endpoint& from, std::string_view bytes) {
                                              ++heard_;
                                              if (!bytes.empty() && loop_.random().Below(2) == 0)
                                                (void)socket_->SendTo(from, bytes.substr(1));
                                            });
    Tick();
  }

  int heard() const { return heard_; }

 private:
  void Tick() {
    const auto wait = milliseconds(1 + loop_.random().Below(20));
    loop_.RunAt(loop_.Now() + wait, [this] {
      const std::string bytes(1 + loop_.random().Below(100), 'g');
      world_.processors().Execute(loop_, std::chrono::microseconds(loop_.random().Below(2000)),
                                  [this, bytes] { (void)socket_->SendTo(kGroup, bytes); });
      Tick();
    });
  }

  World& world_;
  Loop& loop_;
  std::unique_ptr<DatagramSocket> socket_;
  int heard_ = 0;
};

uint64_t TraceOfGossip(uint64_t seed) {
  Simulator simulator(seed);
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i) {
    names.push_back("n" + std::to_string(i));
    simulator.AddHost({.name = names.back(),
                       .boot = [](World& world) { return std::make_shared<Gossip>(world); }});
  }
  RandomFaultOptions faults;
  faults.hosts = names;
  faults.horizon = TimePoint(seconds(5));
  faults.interval_mean = milliseconds(300);
  faults.duration_mean = milliseconds(300);
  ScheduleFaults(simulator, DrawFaults(simulator.random(), faults));
  simulator.RunFor(seconds(6));
  EXPECT_GT(simulator.event_count(), 1000u);
  return simulator.trace_hash();
}

TEST(SimulatorTest, SameSeedGivesTheSameTrace) {
  for (uint64_t seed = 1; seed <= 5; ++seed) EXPECT_EQ(TraceOfGossip(seed), TraceOfGossip(seed));
}

TEST(SimulatorTest, DifferentSeedsGiveDifferentTraces) {
  EXPECT_NE(TraceOfGossip(1), TraceOfGossip(2));
}

TEST(SimulatorTest, TraceCoversTheBytesDelivered) {
  const auto trace_of = [](const std::string& text) {
    Simulator simulator(1);
    Loop& loop = **simulator.AddHost({.name = "a"}).StartLoop({.name = "loop"});
    auto socket = *loop.network().OpenDatagram({.bind = {kLoopbackAddress, 0}},
                                               [](const Endpoint&, std::string_view) {});
    (void)socket->SendTo(socket->local(), text);
    simulator.RunFor(seconds(1));
    return simulator.trace_hash();
  };
  EXPECT_EQ(trace_of("one"), trace_of("one"));
  EXPECT_NE(trace_of("one"), trace_of("two"));
}

TEST(SimulatorTest, TasksTakeNoTime) {
  Simulator simulator(1);
  Loop& loop = **simulator.AddHost({.name = "a"}).StartLoop({.name = "loop"});
  for (int i = 0; i < 100; ++i) loop.Post([] {});
  EXPECT_TRUE(simulator.RunUntilIdle(At(1000)));
  EXPECT_EQ(simulator.now(), TimePoint());
  simulator.RunFor(seconds(2));
  EXPECT_EQ(simulator.now(), At(2000));
}

TEST(SimulatorTest, RunUntilIdleStopsAtItsLimit) {
  Simulator simulator(1);
  Loop& loop = **simulator.AddHost({.name = "a"}).StartLoop({.name = "loop"});
  loop.RunAt(At(50), [] {});
  EXPECT_FALSE(simulator.RunUntilIdle(At(20)));
  EXPECT_EQ(simulator.now(), At(20));
  EXPECT_TRUE(simulator.RunUntilIdle(At(100)));
  EXPECT_EQ(simulator.now(), At(50));
}

TEST(SimulatorTest, ChecksRunAfterEveryEvent) {
  Simulator simulator(1);
  Loop& loop = **simulator.AddHost({.name = "a"}).StartLoop({.name = "loop"});
  int value = 0;
  std::vector<int> checked;
  simulator.CheckAlways([&] { checked.push_back(value); });
  for (int i = 0; i < 3; ++i) loop.Post([&] { ++value; });
  simulator.RunFor(seconds(1));
  EXPECT_EQ(checked, (std::vector<int>{1, 2, 3}));
}

TEST(SimulatorTest, TheLoopOfATaskIsCurrent) {
  Simulator simulator(1);
  SimWorld& world = simulator.AddHost({.name = "a"});
  Loop* const one = *world.StartLoop({.name = "one"});
  Loop* const two = *world.StartLoop({.name = "two"});
  std::vector<Loop*> seen;
  one->Post([&] { seen.push_back(Loop::Current()); });
  two->RunAt(At(1), [&] { seen.push_back(Loop::Current()); });
  simulator.At(At(2), [&] { seen.push_back(Loop::Current()); });
  simulator.RunFor(seconds(1));
  EXPECT_EQ(seen, (std::vector<Loop*>{one, two, nullptr}));
  EXPECT_EQ(Loop::Current(), nullptr);
}

TEST(SimulatorTest, WallTimeFollowsVirtualTime) {
  Simulator simulator(1, {.wall_time_start_ns = 5});
  World& world = simulator.AddHost({.name = "a"});
  simulator.RunFor(milliseconds(1));
  EXPECT_EQ(world.wall_time().ns_since_1970, 1'000'005);
}

// Records its lifecycle events in a log.
struct Program {
  Program(World& at, std::vector<std::string>& to) : world(at), log(to) {
    log.push_back("boot");
    loop = *world.StartLoop({.name = "main"});
    loop->RunAt(loop->Now() + milliseconds(50), [this] { log.push_back("timer"); });
  }
  ~Program() {
    log.push_back("gone");
    loop->Post([this] { log.push_back("posted by the dead"); });
    EXPECT_FALSE(world.StartLoop({.name = "late"}).ok());
  }
  World& world;
  std::vector<std::string>& log;
  Loop* loop = nullptr;
};

class HostLifeTest : public testing::Test {
 protected:
  HostLifeTest() {
    HostOptions options;
    options.name = "a";
    options.boot = [this](World& world) { return std::make_shared<Program>(world, log_); };
    simulator_.AddHost(options);
  }
  std::vector<std::string> log_;
  Simulator simulator_{1};
};

TEST_F(HostLifeTest, BootRunsAsAnEvent) {
  EXPECT_TRUE(log_.empty());
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(log_, (std::vector<std::string>{"boot", "timer"}));
}

TEST_F(HostLifeTest, CrashEndsTheProgram) {
  simulator_.At(At(10), [this] { simulator_.Crash("a"); });
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(log_, (std::vector<std::string>{"boot", "gone"}));
  EXPECT_FALSE(simulator_.host("a").running());
}

TEST_F(HostLifeTest, RestartBootsAgain) {
  simulator_.At(At(10), [this] { simulator_.Crash("a"); });
  simulator_.At(At(20), [this] { simulator_.Restart("a"); });
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(log_, (std::vector<std::string>{"boot", "gone", "boot", "timer"}));
}

TEST_F(HostLifeTest, RestartOfARunningHostCrashesItFirst) {
  simulator_.At(At(10), [this] { simulator_.Restart("a"); });
  simulator_.RunFor(milliseconds(30));
  EXPECT_EQ(log_, (std::vector<std::string>{"boot", "gone", "boot"}));
}

TEST_F(HostLifeTest, PauseDefersDueEvents) {
  simulator_.At(At(10), [this] { simulator_.Pause("a"); });
  simulator_.At(At(90), [this] { EXPECT_EQ(log_.size(), 1u); });
  simulator_.At(At(95), [this] { simulator_.Resume("a"); });
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(log_, (std::vector<std::string>{"boot", "timer"}));
}

TEST_F(HostLifeTest, CrashEndsAPause) {
  simulator_.At(At(10), [this] { simulator_.Pause("a"); });
  simulator_.At(At(20), [this] { simulator_.Crash("a"); });
  simulator_.At(At(30), [this] { simulator_.Restart("a"); });
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(log_.back(), "timer");
}

// Writes without syncing, also while it is being destroyed.
struct Writer {
  explicit Writer(World& world) : store(*world.storage().Open("s")) {
    EXPECT_TRUE(store->Put("synced", "1", WriteMode::kSynced).ok());
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(store->Put("buffered", std::to_string(i), WriteMode::kBuffered).ok());
    }
  }
  ~Writer() { last_write = store->Put("destructor", "1", WriteMode::kSynced); }
  std::unique_ptr<KeyValueStore> store;
  static Status last_write;
};
Status Writer::last_write;

// Returns the value of "buffered" in the host's store after a crash of that kind.
std::string BufferedAfter(CrashKind kind, uint64_t seed) {
  Simulator simulator(seed);
  SimWorld& world = simulator.AddHost(
      {.name = "a", .boot = [](World& at) { return std::make_shared<Writer>(at); }});
  simulator.RunFor(seconds(1));
  simulator.Crash("a", kind);
  const auto store = *world.storage().Open("s");
  EXPECT_EQ(*store->Get("synced"), "1");
  return store->Get("buffered")->value_or("none");
}

TEST(SimulatorTest, PowerFailureLosesUnsyncedWritesAndStopsTheProgramsStores) {
  int lost_count = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    lost_count += BufferedAfter(CrashKind::kMachine, seed) != "99" ? 1 : 0;
    EXPECT_EQ(Writer::last_write.code(), StatusCode::kUnavailable) << Writer::last_write;
  }
  EXPECT_GT(lost_count, 5);
}

TEST(SimulatorTest, KilledProcessKeepsItsWrites) {
  EXPECT_EQ(BufferedAfter(CrashKind::kProcess, 1), "99");
}

TEST(SimulatorTest, DeferredEventsKeepTheirOrderAndCanBeCancelled) {
  Simulator simulator(1);
  Loop& loop = **simulator.AddHost({.name = "a"}).StartLoop({.name = "loop"});
  std::vector<int> order;
  TimerId third = 0;
  loop.RunAt(At(10), [&] {
    order.push_back(1);
    EXPECT_TRUE(loop.CancelTimer(third));
  });
  loop.RunAt(At(11), [&] { order.push_back(2); });
  third = loop.RunAt(At(12), [&] { order.push_back(3); });
  simulator.Pause("a");
  simulator.RunUntil(At(20));
  simulator.Resume("a");
  simulator.RunUntil(At(21));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(SimulatorTest, StoppedHostRestarts) {
  Simulator simulator(1);
  int boots = 0;
  SimWorld& world = simulator.AddHost({.name = "a", .boot = [&](World&) {
                                         ++boots;
                                         return std::shared_ptr<void>();
                                       }});
  simulator.RunFor(seconds(1));
  world.Stop();
  EXPECT_FALSE(world.StartLoop({.name = "loop"}).ok());
  simulator.Restart("a");
  simulator.RunFor(seconds(1));
  EXPECT_EQ(boots, 2);
  EXPECT_TRUE(world.StartLoop({.name = "loop"}).ok());
}

TEST(SimulatorTest, LoopsAreLimited) {
  Simulator simulator(1);
  SimWorld& world = simulator.AddHost({.name = "a"});
  for (int i = 0; i < kLoopCountMax; ++i) ASSERT_TRUE(world.StartLoop({.name = "loop"}).ok());
  EXPECT_EQ(world.StartLoop({.name = "more"}).status().code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace neptune
