// Damaged logs on the nodes of a simulated cluster: no acknowledged write is lost while a majority
// of the members have theirs, and what is lost is said.

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::seconds;

class LogDamageTest : public ReplicatedRegistersTest {
 protected:
  SimLogFiles& LogOf(const std::string& node) {
    return simulator().host(node).sim_storage().log_files();
  }
  // Inverts a bit of the largest log file, at this part of its size.
  void FlipBit(const std::string& node, double part) {
    std::string largest;
    for (const std::string& name : LogOf(node).Names()) {
      if (LogOf(node).ContentsOf(name).size() > LogOf(node).ContentsOf(largest).size()) {
        largest = name;
      }
    }
    const size_t size = LogOf(node).ContentsOf(largest).size();
    LogOf(node).FlipBit(largest, static_cast<size_t>(part * static_cast<double>(size)), 3);
  }
  // Appends this many letters to register "k"; all must be acknowledged.
  void AppendAll(int count) {
    InSession([&](ReplicaSession& session) {
      for (int i = 0; i < count; ++i) ASSERT_TRUE(Append(session, "k=x").ok());
    });
  }
  StatusOr<std::string> AppendOnce(Duration timeout) {
    StatusOr<std::string> result = Unavailable("not asked");
    InSession([&](ReplicaSession& session) { result = Append(session, "k=x", timeout); });
    return result;
  }
  // The nodes' own values of "k", once they are equal.
  void ExpectAllHave(size_t size) {
    for (const char* node : {"s0", "s1", "s2"}) {
      const auto* const state = static_cast<const StoreState*>(Agent(node)->state());
      const auto value = state->view().Get("k");
      ASSERT_TRUE(value.ok() && value->has_value()) << node;
      EXPECT_EQ((*value)->size(), size) << node;
      EXPECT_TRUE(Agent(node)->status().failure.ok()) << node;
    }
  }
  void CrashAll(CrashKind kind) {
    for (const char* node : {"s0", "s1", "s2"}) simulator().Crash(node, kind);
  }
};

TEST_F(LogDamageTest, FlippedBitAndOneNodeDownLoseNothing) {
  for (const CrashKind kind : {CrashKind::kMachine, CrashKind::kProcess}) {
    Start(3, kOrdered);
    AppendAll(100);
    simulator().Crash("s2");
    AppendAll(100);
    simulator().RunFor(seconds(2));
    CrashAll(kind);
    FlipBit("s0", .75);
    simulator().Restart("s0");
    simulator().Restart("s2");
    simulator().RunFor(seconds(5));
    // s0 has forgotten, and s2 was away: neither may order writes.
    EXPECT_EQ(Agent("s0")->status().role, ReplicaRole::kRecovering);
    EXPECT_EQ(Agent("s0")->status().damage.code(), StatusCode::kDataLoss);
    EXPECT_NE(Agent("s2")->status().role, ReplicaRole::kPrimary);
    EXPECT_FALSE(AppendOnce(seconds(5)).ok());
    simulator().Restart("s1");
    simulator().RunFor(seconds(10));
    const auto value = AppendOnce(seconds(20));
    ASSERT_TRUE(value.ok()) << value.status();
    // The write that was not acknowledged may be there too.
    EXPECT_GE(value->size(), 201u);
    EXPECT_LE(value->size(), 202u);
    simulator().RunFor(seconds(5));
    ExpectAllHave(value->size());
    EXPECT_TRUE(Agent("s0")->status().role == ReplicaRole::kPrimary ||
                Agent("s0")->status().role == ReplicaRole::kSecondary);
  }
}

TEST_F(LogDamageTest, LogThatEndsBeforeTheDataIsDamaged) {
  Start(3, kOrdered);
  AppendAll(50);
  simulator().RunFor(seconds(2));
  simulator().Crash("s1", CrashKind::kProcess);
  for (const std::string& name : LogOf("s1").Names()) ASSERT_TRUE(LogOf("s1").Remove(name).ok());
  AppendAll(50);
  simulator().Restart("s1");
  simulator().RunFor(seconds(10));
  EXPECT_EQ(Agent("s1")->status().damage.code(), StatusCode::kDataLoss);
  EXPECT_EQ(Agent("s1")->status().role, ReplicaRole::kSecondary);
  ExpectAllHave(100);
}

TEST_F(LogDamageTest, OnlyMemberWithADamagedLogFailsAndItsNodeGoesOn) {
  Start(1, kOrdered);
  AppendAll(100);
  simulator().RunFor(seconds(2));
  simulator().Crash("s0", CrashKind::kProcess);
  FlipBit("s0", .5);
  const auto before = LogOf("s0").Names();
  simulator().Restart("s0");
  simulator().RunFor(seconds(5));
  ASSERT_TRUE(cluster_->lives("s0"));
  EXPECT_EQ(Keeper("s0").status().failure.code(), StatusCode::kDataLoss);
  EXPECT_FALSE(AppendOnce(seconds(2)).ok());
  simulator().Restart("s0");
  simulator().RunFor(seconds(5));
  EXPECT_EQ(Keeper("s0").status().failure.code(), StatusCode::kDataLoss) << "it stays damaged";
  EXPECT_FALSE(AppendOnce(seconds(2)).ok());
}

// One member after the other: a flipped bit anywhere in its log while it is down.
TEST_F(LogDamageTest, FlippedBitsOfOneMemberAtATimeLoseNothing) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Start(3, kOrdered, seed);
    RandomSource random(seed);
    size_t acknowledged = 0;
    for (int round = 0; round < 6; ++round) {
      AppendAll(30);
      acknowledged += 30;
      const std::string victim = StrCat("s", random.Below(3));
      simulator().Crash(victim, random.Below(2) == 0 ? CrashKind::kMachine : CrashKind::kProcess);
      FlipBit(victim, random.Uniform());
      if (random.Below(2) == 0) {
        AppendAll(10);
        acknowledged += 10;
      }
      simulator().Restart(victim);
      simulator().RunFor(seconds(8));
    }
    InSession([&](ReplicaSession& session) {
      const auto value = Append(session, "k=x");
      ASSERT_TRUE(value.ok()) << value.status();
      EXPECT_EQ(value->size(), acknowledged + 1);
    });
    simulator().RunFor(seconds(5));
    ExpectAllHave(acknowledged + 1);
  }
}

}  // namespace
}  // namespace neptune
