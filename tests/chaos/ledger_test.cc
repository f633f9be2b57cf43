#include "tests/chaos/ledger.h"

#include <gtest/gtest.h>

namespace neptune::chaos {
namespace {

TimePoint At(double s) { return TimePoint(FromSeconds(s)); }

ChaosFault Of(Fault::Kind kind, std::set<std::string> hosts, std::set<std::string> others = {}) {
  ChaosFault chaos_fault;
  chaos_fault.span = {
      At(10), At(12), {.kind = kind, .hosts = hosts, .others = others, .amount = 0.1}};
  return chaos_fault;
}

ChaosFault Leave(const std::string& node) {
  ChaosFault chaos_fault = Of(Fault::Kind::kCrash, {node});
  chaos_fault.kind = ChaosFault::Kind::kLeave;
  return chaos_fault;
}

TEST(LedgerTest, FaultOfANodeDisturbsItWhileItLasts) {
  const Ledger ledger({Of(Fault::Kind::kPause, {"a"})});
  EXPECT_FALSE(ledger.NodeQuiet("a", At(11), At(20)));
  EXPECT_FALSE(ledger.NodeQuiet("a", At(0), At(10)));
  EXPECT_TRUE(ledger.NodeQuiet("a", At(12.1), At(20)));
  EXPECT_TRUE(ledger.NodeQuiet("b", At(0), At(20)));
  EXPECT_FALSE(ledger.PairQuiet("a", "b", At(0), At(20)));
  EXPECT_TRUE(ledger.Away("a", At(10), At(12)));
  EXPECT_FALSE(ledger.Away("a", At(9.9), At(12)));
}

TEST(LedgerTest, CutDisturbsLinksAcrossItBothWays) {
  for (const auto kind : {Fault::Kind::kCut, Fault::Kind::kCutOneWay, Fault::Kind::kLossOneWay}) {
    const Ledger ledger({Of(kind, {"a", "b"}, {"c"})});
    EXPECT_FALSE(ledger.LinkQuiet("a", "c", At(11), At(11)));
    EXPECT_FALSE(ledger.LinkQuiet("c", "b", At(11), At(11)));
    EXPECT_TRUE(ledger.LinkQuiet("a", "b", At(11), At(11)));
    EXPECT_TRUE(ledger.NodeQuiet("a", At(11), At(11)));
  }
}

TEST(LedgerTest, LossOnAllLinksDisturbsTheNetworkOnly) {
  const Ledger ledger({Of(Fault::Kind::kDatagramLoss, {})});
  EXPECT_FALSE(ledger.NetworkQuiet(At(11), At(11)));
  EXPECT_TRUE(ledger.PairQuiet("a", "b", At(11), At(11)));
}

TEST(LedgerTest, AClockThatJumpsDisturbsNobody) {
  const Ledger ledger({Of(Fault::Kind::kClockOffset, {"a"})});
  EXPECT_TRUE(ledger.NodeQuiet("a", At(11), At(11)));
}

TEST(LedgerTest, LeavingIsADisturbanceOfItsOwnKind) {
  const Ledger ledger({Leave("a")});
  EXPECT_FALSE(ledger.NodeQuiet("a", At(11), At(11)));
  EXPECT_TRUE(ledger.QuietOrLeaving("a", At(11), At(11)));
  EXPECT_TRUE(ledger.Left("a", At(10.5), At(11)));
  EXPECT_FALSE(ledger.Left("a", At(9.5), At(11)));
}

TEST(ChaosFaultTest, DrawnFaultsOfOneNodeDoNotCollide) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomSource random(seed);
    const auto chaos_faults = DrawChaosFaults(
        random, {.nodes = {"a", "b", "c"}, .servers = {"a", "b"}, .begin = At(1), .end = At(20)});
    std::map<std::string, TimePoint> free_at;
    for (const ChaosFault& chaos_fault : chaos_faults) {
      EXPECT_LE(chaos_fault.span.end, At(20));
      const bool away = chaos_fault.kind != ChaosFault::Kind::kFault ||
                        chaos_fault.span.fault.kind == Fault::Kind::kCrash ||
                        chaos_fault.span.fault.kind == Fault::Kind::kPause;
      if (!away) continue;
      EXPECT_GE(chaos_fault.span.begin, free_at[chaos_fault.node()]) << "seed " << seed;
      free_at[chaos_fault.node()] = chaos_fault.span.end + kComeBackMax;
    }
  }
}

}  // namespace
}  // namespace neptune::chaos
