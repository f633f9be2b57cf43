#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

// Hosts a and b with one loop and one socket each, and the constant delays of the paper.
class SimDatagramTest : public testing::Test {
 protected:
  Loop* AddLoop(const std::string& host) {
    return *simulator_.AddHost({.name = host}).StartLoop({.name = "loop"});
  }
  uint32_t AddressOf(const std::string& host) { return simulator_.host(host).address(); }

  std::unique_ptr<DatagramSocket> Open(Loop* loop, std::vector<std::string>& heard,
                                       const DatagramOptions& options = {}) {
    return *loop->network().OpenDatagram(options,
                                         [this, &heard](const Endpoint&, std::string_view bytes) {
                                           heard.emplace_back(bytes);
                                           heard_at_ = simulator_.now();
                                         });
  }

  void SendNumbers(int count) {
    for (int i = 0; i < count; ++i) {
      EXPECT_TRUE(from_->SendTo({AddressOf("b"), to_->local().port}, std::to_string(i)).ok());
    }
    simulator_.RunFor(seconds(1));
  }

  Simulator simulator_{1, {.network = kPaperCluster}};
  Loop* a_ = AddLoop("a");
  Loop* b_ = AddLoop("b");
  std::vector<std::string> heard_a_;
  std::vector<std::string> heard_b_;
  TimePoint heard_at_;
  std::unique_ptr<DatagramSocket> from_ = Open(a_, heard_a_);
  std::unique_ptr<DatagramSocket> to_ = Open(b_, heard_b_);
};

TEST_F(SimDatagramTest, DatagramTakesThePapersDelay) {
  SendNumbers(1);
  EXPECT_EQ(heard_at_, TimePoint(microseconds(145)));
}

TEST_F(SimDatagramTest, BusyHostReadsLate) {
  simulator_.DelayDatagrams(
      [](const std::string& host) { return host == "b" ? microseconds(5000) : microseconds(0); });
  SendNumbers(1);
  EXPECT_EQ(heard_at_, TimePoint(microseconds(5145)));
}

TEST_F(SimDatagramTest, LossLosesTheShareAsked) {
  simulator_.SetLinks({.datagram_loss = 0.25});
  SendNumbers(10'000);
  EXPECT_NEAR(static_cast<double>(heard_b_.size()), 7500, 200);
}

TEST_F(SimDatagramTest, DuplicatesArriveTwice) {
  simulator_.SetLinks({.datagram_duplicate = 1});
  SendNumbers(1);
  EXPECT_EQ(heard_b_, (std::vector<std::string>{"0", "0"}));
}

TEST_F(SimDatagramTest, ReorderingLetsLaterOnesOvertake) {
  SendNumbers(100);
  const std::vector<std::string> in_order = std::exchange(heard_b_, {});
  simulator_.SetLinks({.datagram_reorder = 0.5});
  SendNumbers(100);
  EXPECT_EQ(heard_b_.size(), 100u);
  EXPECT_NE(heard_b_, in_order);
}

TEST_F(SimDatagramTest, CutDatagramsAreLost) {
  const auto cut = simulator_.Partition({"a"}, {"b"});
  SendNumbers(3);
  simulator_.Heal(cut);
  SendNumbers(1);
  EXPECT_EQ(heard_b_.size(), 1u);
}

TEST_F(SimDatagramTest, LeakyCutLosesTheShareAskedOneWay) {
  const auto cut = simulator_.LoseOneWay({"a"}, {"b"}, 0.25);
  SendNumbers(10'000);
  EXPECT_NEAR(static_cast<double>(heard_b_.size()), 7500, 200);
  EXPECT_TRUE(to_->SendTo({AddressOf("a"), from_->local().port}, "back").ok());
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(heard_a_.size(), 1u);
  simulator_.Heal(cut);
  heard_b_.clear();
  SendNumbers(100);
  EXPECT_EQ(heard_b_.size(), 100u);
}

TEST_F(SimDatagramTest, TamperingChangesOrDropsMessages) {
  simulator_.TamperWith([](Carrier carrier, std::string* bytes) {
    EXPECT_EQ(carrier, Carrier::kDatagram);
    if (*bytes == "1") return false;
    *bytes += "!";
    return true;
  });
  SendNumbers(3);
  EXPECT_EQ(heard_b_, (std::vector<std::string>{"0!", "2!"}));
}

TEST_F(SimDatagramTest, PausedHostKeepsABoundedNumber) {
  simulator_.Pause("b");
  const std::string big(60'000, 'x');
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(from_->SendTo({AddressOf("b"), to_->local().port}, big).ok());
  }
  simulator_.RunFor(seconds(1));
  EXPECT_TRUE(heard_b_.empty());
  simulator_.Resume("b");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(heard_b_.size(), kDatagramBufferSize / big.size());
}

TEST_F(SimDatagramTest, MulticastReachesMembersOnEveryHostButNotBehindACut) {
  constexpr Endpoint kGroup = {0xefc01a07, 7000};
  Loop* c = AddLoop("c");
  std::vector<std::string> heard_c;
  std::vector<std::string> other_group;
  const auto member_a = Open(a_, heard_a_, {.multicast_group = kGroup});
  const auto member_b = Open(b_, heard_b_, {.multicast_group = kGroup});
  const auto member_c = Open(c, heard_c, {.multicast_group = kGroup});
  const auto stranger = Open(c, other_group, {.multicast_group = Endpoint{0xefc01a08, 7000}});
  simulator_.Partition({"a"}, {"c"});
  EXPECT_TRUE(member_a->SendTo(kGroup, "hello").ok());
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(heard_a_.size(), 1u);
  EXPECT_EQ(heard_b_.size(), 1u);
  EXPECT_EQ(heard_c.size(), 0u);
  EXPECT_TRUE(other_group.empty());
}

TEST_F(SimDatagramTest, SenderIsNamedByAnAddressThatCanBeAnswered) {
  Endpoint sender;
  const auto server = *b_->network().OpenDatagram(
      {.bind = {0, 99}}, [&](const Endpoint& from, std::string_view) { sender = from; });
  EXPECT_TRUE(from_->SendTo({AddressOf("b"), 99}, "x").ok());
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(sender, (Endpoint{AddressOf("a"), from_->local().port}));
  EXPECT_TRUE(server->SendTo(sender, "y").ok());
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(heard_a_, (std::vector<std::string>{"y"}));
}

}  // namespace
}  // namespace neptune
