// Hosts in namespaces reach each other while their links are up. Skipped if namespaces are not
// permitted.

#include "tools/process/linked_hosts.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>

namespace search::lab {
namespace {

constexpr uint16_t kPort = 7400;

class LinkedHostsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = LinkedHosts::Make(2);
    if (!made.ok()) GTEST_SKIP() << "SKIPPED: " << made.status();
    hosts_ = *std::move(made);
    hosts_->RunIn(1, [this] { receiver_ = Bound(hosts_->address(1)); });
  }
  ~LinkedHostsTest() override { close(receiver_); }

  static int Bound(uint32_t address) {
    const int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const sockaddr_in at = At(address);
    EXPECT_EQ(bind(made, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0) << strerror(errno);
    return made;
  }
  static sockaddr_in At(uint32_t address) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(kPort);
    at.sin_addr.s_addr = htonl(address);
    return at;
  }
  // Whether a datagram of host 0 is received.
  bool Send() {
    bool is_sent = false;
    hosts_->RunIn(0, [&] {
      const int sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      const sockaddr_in to = At(hosts_->address(1));
      is_sent = sendto(sender, "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 1;
      close(sender);
    });
    return is_sent;
  }
  bool Arrives(int within_ms) {
    pollfd readable{receiver_, POLLIN, 0};
    char byte = 0;
    return poll(&readable, 1, within_ms) == 1 && read(receiver_, &byte, 1) == 1;
  }

  std::unique_ptr<LinkedHosts> hosts_;
  int receiver_ = -1;
};

constexpr int kLongMs = 10'000;
constexpr int kNothingMs = 100;

TEST_F(LinkedHostsTest, OneReachesTheOther) {
  EXPECT_TRUE(Send());
  EXPECT_TRUE(Arrives(kLongMs));
}

TEST_F(LinkedHostsTest, WhatIsSentOverALinkThatIsDownIsDroppedInSilence) {
  ASSERT_TRUE(Send());
  ASSERT_TRUE(Arrives(kLongMs));
  ASSERT_TRUE(hosts_->SetLink(1, false).ok());
  EXPECT_TRUE(Send());
  EXPECT_FALSE(Arrives(kNothingMs));
  ASSERT_TRUE(hosts_->SetLink(1, true).ok());
  EXPECT_TRUE(Send());
  EXPECT_TRUE(Arrives(kLongMs));
}

TEST_F(LinkedHostsTest, TheMachinesOwnNetworkIsNotTheirs) {
  const int outside = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_in at = At(hosts_->address(1));
  EXPECT_EQ(bind(outside, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), -1);
  EXPECT_EQ(errno, EADDRNOTAVAIL);
  close(outside);
}

TEST_F(LinkedHostsTest, OthersOfTheSameAddressesMayBeAtOnce) {
  const auto others = LinkedHosts::Make(2);
  ASSERT_TRUE(others.ok()) << others.status();
  EXPECT_TRUE(Send());
  EXPECT_TRUE(Arrives(kLongMs));
}

}  // namespace
}  // namespace search::lab
