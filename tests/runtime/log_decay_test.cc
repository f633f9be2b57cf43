// Bytes of a node's log that decay while the node runs, on whole nodes of a simulated cluster.

#include <gtest/gtest.h>

#include <string>

#include "neptune/base/strings.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/world/sim/sim_world.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class LogDecayTest : public ReplicatedRegistersTest {
 protected:
  SimStorage& Disk(const std::string& node) { return simulator().host(node).sim_storage(); }
  double MetricOf(const std::string& node, std::string_view name) {
    return cluster_->node(node).metrics().Value(name).value_or(-1);
  }
  double DamageOf(const std::string& node) {
    return MetricOf(node, "neptune_redo_log_damage_total");
  }
  // Flips a bit of a text in the node's log. REQUIRES: it is there.
  void Flip(const std::string& node, std::string_view text) {
    SimLogFiles& files = Disk(node).log_files();
    for (const std::string& name : files.Names()) {
      const size_t at = files.ContentsOf(name).find(text);
      if (at == std::string::npos) continue;
      return files.FlipBit(name, at, 3);
    }
    FAIL() << text << " is not in the log of " << node;
  }
  void Write(const std::string& prefix, int count) {
    InSession([&](ReplicaSession& session) {
      for (int i = 0; i < count; ++i) {
        const std::string write = StrCat(prefix, i, "=value", i);
        EXPECT_TRUE(Append(session, write).ok()) << write;
      }
    });
  }
  bool AwaitDamage(const std::string& node) {
    return simulator().RunUntilTrue([&] { return DamageOf(node) > 0; },
                                    simulator().now() + minutes(7));
  }
  std::string Stored(const std::string& node, const std::string& key) {
    const std::shared_ptr<ReplicaAgent> agent = Agent(node);
    if (agent == nullptr || agent->state() == nullptr) return "not open";
    const auto value = static_cast<const StoreState*>(agent->state())->view().Get(key);
    return value.ok() ? value->value_or("none") : std::string(ToStd(value.status().ToString()));
  }
  void RestartProcess(const std::string& node) {
    simulator().Crash(node, CrashKind::kProcess);
    simulator().Restart(node);
    simulator().RunFor(seconds(5));
  }
};

TEST_F(LogDecayTest, LogIsReadBackToItsEnd) {
  Start(3, kOrdered);
  Write("k", 30);
  simulator().RunFor(minutes(7));
  EXPECT_GT(MetricOf("s0", "neptune_redo_log_checked_bytes_total"), 1000);
  EXPECT_EQ(DamageOf("s0"), 0);
}

TEST_F(LogDecayTest, EntryThatTheDataContainIsDroppedAndNothingElseHappens) {
  Start(3, kOrdered);
  Write("k", 30);
  const uint64_t epoch = Agent("s0")->status().epoch;
  for (const char* node : {"s0", "s1"}) {
    Flip(node, "k7=value7");
    ASSERT_TRUE(AwaitDamage(node));
  }
  simulator().RunFor(seconds(5));
  for (const char* node : {"s0", "s1"}) {
    EXPECT_TRUE(Keeper(node).health().failure.ok()) << Keeper(node).health().failure;
    EXPECT_EQ(Keeper(node).health().reopen_count, 0u);
  }
  EXPECT_EQ(Agent("s0")->status().role, ReplicaRole::kPrimary);
  EXPECT_EQ(Agent("s0")->status().epoch, epoch);
  Write("m", 10);
  for (const char* node : {"s0", "s1"}) {
    RestartProcess(node);
    EXPECT_TRUE(Agent(node)->status().damage.ok()) << Agent(node)->status().damage;
    EXPECT_EQ(Stored(node, "k7"), "value7");
    EXPECT_EQ(Stored(node, "m9"), "value9");
  }
}

TEST_F(LogDecayTest, OnlyReplicaGoesOnWithWhatItsDataContain) {
  Start(1, kOrdered);
  Write("k", 30);
  Flip("s0", "k7=value7");
  ASSERT_TRUE(AwaitDamage("s0"));
  simulator().RunFor(seconds(5));
  Write("m", 10);
  RestartProcess("s0");
  EXPECT_EQ(Stored("s0", "k7"), "value7");
  EXPECT_EQ(Stored("s0", "m9"), "value9");
  EXPECT_TRUE(Agent("s0")->status().damage.ok()) << Agent("s0")->status().damage;
}

// At level 1 a member that is away still needs the entry.
TEST_F(LogDecayTest, LogThatOthersNeedIsForgottenAndItsReplicaCatchesUp) {
  Start(3, "level: 'write_anywhere'");
  Write("k", 10);
  simulator().Crash("s2");
  Write("m", 10);
  simulator().RunFor(seconds(2));
  Flip("s0", "m5=value5");
  ASSERT_TRUE(AwaitDamage("s0"));
  EXPECT_TRUE(
      simulator().RunUntilTrue([&] { return !Agent("s0") || !Agent("s0")->status().damage.ok(); },
                               simulator().now() + seconds(10)))
      << "it must not go on as if nothing were lost";
  ASSERT_TRUE(simulator().RunUntilTrue(
      [&] { return Agent("s0") && Agent("s0")->status().role == ReplicaRole::kPeer; },
      simulator().now() + minutes(1)));
  simulator().Restart("s2");
  simulator().RunFor(seconds(20));
  for (const char* node : {"s0", "s1", "s2"}) {
    EXPECT_EQ(Stored(node, "m5"), "value5") << node;
    EXPECT_TRUE(Keeper(node).health().failure.ok()) << Keeper(node).health().failure;
  }
}

}  // namespace
}  // namespace neptune
