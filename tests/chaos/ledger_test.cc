#include "tests/chaos/ledger.h"

#include <gtest/gtest.h>

namespace neptune::chaos {
namespace {

TimePoint At(double s) { return TimePoint(FromSeconds(s)); }

// A fault from 10 s to 12 s.
FaultSpan Of(Fault::Kind kind, std::set<std::string> hosts, std::set<std::string> others = {}) {
  return {At(10), At(12), {.kind = kind, .hosts = hosts, .others = others, .amount = 0.1}};
}

TEST(LedgerTest, FaultOfANodeDisturbsItUntilItsEnd) {
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

TEST(LedgerTest, ClockJumpDisturbsNoNode) {
  const Ledger ledger({Of(Fault::Kind::kClockOffset, {"a"})});
  EXPECT_TRUE(ledger.NodeQuiet("a", At(11), At(11)));
}

TEST(LedgerTest, GracefulLeaveCountsUnlessItIsAllowed) {
  const Ledger ledger({Of(Fault::Kind::kLeave, {"a"})});
  EXPECT_FALSE(ledger.NodeQuiet("a", At(11), At(11)));
  EXPECT_TRUE(ledger.QuietOrLeaving("a", At(11), At(11)));
  EXPECT_TRUE(ledger.Left("a", At(10.5), At(11)));
  EXPECT_FALSE(ledger.Left("a", At(9.5), At(11)));
}

TEST(LedgerTest, IsolatedNodeIsAwayAndHangingOneIsNot) {
  EXPECT_TRUE(Ledger({Of(Fault::Kind::kIsolate, {"a"})}).Away("a", At(10), At(12)));
  const Ledger ledger({Of(Fault::Kind::kHang, {"a"})});
  EXPECT_FALSE(ledger.Away("a", At(10), At(12)));
  EXPECT_TRUE(ledger.Hangs("a", At(12), At(20)));
  EXPECT_FALSE(ledger.Hangs("b", At(12), At(20)));
}

}  // namespace
}  // namespace neptune::chaos
