// The world conformance suite, part 3: datagrams and multicast.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/world_conformance.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

constexpr Endpoint kAnywhere = {kLoopbackAddress, 0};
constexpr uint32_t kTestGroup = 0xefc01a07;  // 239.192.26.7, organisation-local scope

// A datagram socket and the datagrams it received.
struct Receiver {
  std::unique_ptr<DatagramSocket> socket;
  std::vector<std::string> heard;
  Endpoint from;
  std::function<void()> on_datagram;

  void Open(Loop& loop, const DatagramOptions& options) {
    auto opened = loop.network().OpenDatagram(
        options, [this](const Endpoint& sender, std::string_view bytes) {
          from = sender;
          heard.emplace_back(bytes);
          if (on_datagram) on_datagram();
        });
    ASSERT_TRUE(opened.ok()) << opened.status();
    socket = *std::move(opened);
  }
};

TEST_P(WorldConformanceTest, DatagramArrivesAndCanBeAnswered) {
  auto& one = Make<Receiver>();
  auto& two = Make<Receiver>();
  Run([&] {
    one.Open(loop(), {.bind = kAnywhere});
    two.Open(loop(), {.bind = kAnywhere});
    EXPECT_NE(one.socket->local().port, 0);
    EXPECT_TRUE(one.socket->SendTo(two.socket->local(), "ping").ok());
  });
  ASSERT_TRUE(Until([&] { return two.heard.size() == 1; }));
  Run([&] {
    EXPECT_EQ(two.heard[0], "ping");
    EXPECT_EQ(two.from, one.socket->local());
    EXPECT_TRUE(two.socket->SendTo(two.from, "pong").ok());
  });
  ASSERT_TRUE(Until([&] { return one.heard.size() == 1; }));
  Run([&] { EXPECT_EQ(one.heard[0], "pong"); });
}

TEST_P(WorldConformanceTest, DatagramsKeepTheirBorders) {
  auto& receiver = Make<Receiver>();
  Run([&] {
    receiver.Open(loop(), {.bind = kAnywhere});
    for (const char* text : {"a", "", "ccc"}) {
      EXPECT_TRUE(receiver.socket->SendTo(receiver.socket->local(), text).ok());
    }
  });
  ASSERT_TRUE(Until([&] { return receiver.heard.size() == 3; }));
  Run([&] {
    std::sort(receiver.heard.begin(), receiver.heard.end());
    EXPECT_EQ(receiver.heard, (std::vector<std::string>{"", "a", "ccc"}));
  });
}

TEST_P(WorldConformanceTest, LargestDatagramArrivesAndALargerOneIsRefused) {
  const std::string largest(kDatagramSizeMax, 'x');
  auto& receiver = Make<Receiver>();
  Run([&] {
    receiver.Open(loop(), {.bind = kAnywhere});
    EXPECT_TRUE(receiver.socket->SendTo(receiver.socket->local(), largest).ok());
    const Status refused = receiver.socket->SendTo(receiver.socket->local(), largest + "x");
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << refused;
  });
  ASSERT_TRUE(Until([&] { return !receiver.heard.empty(); }));
  Pass(milliseconds(2));
  Run([&] {
    ASSERT_EQ(receiver.heard.size(), 1u);
    EXPECT_TRUE(receiver.heard[0] == largest);
  });
}

TEST_P(WorldConformanceTest, DatagramToAClosedPortIsLostSilently) {
  const uint16_t port = FreeDatagramPort();
  auto& sender = Make<Receiver>();
  Run([&] {
    sender.Open(loop(), {.bind = kAnywhere});
    EXPECT_TRUE(sender.socket->SendTo({kLoopbackAddress, port}, "lost").ok());
  });
  Pass(milliseconds(2));
  // The socket still works, although a real system reports the closed port on it.
  Run([&] { EXPECT_TRUE(sender.socket->SendTo(sender.socket->local(), "self").ok()); });
  EXPECT_TRUE(Until([&] { return sender.heard == std::vector<std::string>{"self"}; }));
}

TEST_P(WorldConformanceTest, ConnectedSocketOnlyTalksToItsPeer) {
  auto& peer = Make<Receiver>();
  auto& stranger = Make<Receiver>();
  auto& connected = Make<Receiver>();
  Run([&] {
    peer.Open(loop(), {.bind = kAnywhere});
    stranger.Open(loop(), {.bind = kAnywhere});
    connected.Open(loop(), {.bind = kAnywhere, .peer = peer.socket->local()});
    EXPECT_TRUE(connected.socket->SendTo(peer.socket->local(), "ping").ok());
    EXPECT_TRUE(stranger.socket->SendTo(connected.socket->local(), "not heard").ok());
  });
  ASSERT_TRUE(Until([&] { return peer.heard.size() == 1; }));
  Run([&] { EXPECT_TRUE(peer.socket->SendTo(peer.from, "pong").ok()); });
  ASSERT_TRUE(Until([&] { return !connected.heard.empty(); }));
  Pass(milliseconds(2));
  Run([&] { EXPECT_EQ(connected.heard, (std::vector<std::string>{"pong"})); });
}

TEST_P(WorldConformanceTest, ConnectedSocketReportsAClosedPortAndStillWorks) {
  const Endpoint gone = {kLoopbackAddress, FreeDatagramPort()};
  auto& connected = Make<Receiver>();
  auto& refused = Make<int>();
  Run([&] {
    connected.Open(loop(), {.bind = kAnywhere, .peer = gone, .on_refused = [&] { ++refused; }});
    EXPECT_TRUE(connected.socket->SendTo(gone, "lost").ok());
    EXPECT_EQ(refused, 0);
  });
  ASSERT_TRUE(Until([&] { return refused == 1; }));
  auto& peer = Make<Receiver>();
  Run([&] {
    peer.Open(loop(), {.bind = gone});
    EXPECT_TRUE(connected.socket->SendTo(gone, "hello").ok());
  });
  EXPECT_TRUE(Until([&] { return peer.heard == std::vector<std::string>{"hello"}; }));
}

// The system reports the first error when the second datagram is sent, and drops that one.
TEST_P(WorldConformanceTest, DatagramRightAfterARefusedOneIsSent) {
  const Endpoint gone = {kLoopbackAddress, FreeDatagramPort()};
  auto& connected = Make<Receiver>();
  auto& refused = Make<int>();
  auto& peer = Make<Receiver>();
  Run([&] {
    connected.Open(loop(), {.bind = kAnywhere, .peer = gone, .on_refused = [&] { ++refused; }});
    EXPECT_TRUE(connected.socket->SendTo(gone, "lost").ok());
    peer.Open(loop(), {.bind = gone});
    EXPECT_TRUE(connected.socket->SendTo(gone, "hello").ok());
  });
  EXPECT_TRUE(Until([&] { return !peer.heard.empty() && peer.heard.back() == "hello"; }));
}

TEST_P(WorldConformanceTest, BindingATakenDatagramPortIsRefused) {
  auto& first = Make<Receiver>();
  Run([&] {
    first.Open(loop(), {.bind = kAnywhere});
    const auto second = loop().network().OpenDatagram({.bind = first.socket->local()},
                                                      [](const Endpoint&, std::string_view) {});
    EXPECT_EQ(second.status().code(), StatusCode::kInvalidArgument) << second.status();
  });
}

TEST_P(WorldConformanceTest, MulticastReachesEveryMember) {
  const Endpoint group = {kTestGroup, FreeDatagramPort()};
  Loop& other = StartLoop("other");
  auto& here = Make<Receiver>();
  auto& there = Keep(other, std::make_shared<Receiver>());
  auto& sender = Make<Receiver>();
  Run([&] { here.Open(loop(), {.multicast_group = group}); });
  RunOn(other, [&] { there.Open(other, {.multicast_group = group}); });
  Run([&] {
    sender.Open(loop(), {.bind = kAnywhere});
    EXPECT_TRUE(sender.socket->SendTo(group, "to all").ok());
  });
  EXPECT_TRUE(Until([&] { return here.heard == std::vector<std::string>{"to all"}; }));
  EXPECT_TRUE(UntilOn(other, [&] { return there.heard == std::vector<std::string>{"to all"}; }));
}

TEST_P(WorldConformanceTest, MemberOfAGroupSendsToItAndHearsItself) {
  const Endpoint group = {kTestGroup, FreeDatagramPort()};
  auto& member = Make<Receiver>();
  Run([&] {
    member.Open(loop(), {.multicast_group = group});
    EXPECT_EQ(member.socket->local().port, group.port);
    EXPECT_TRUE(member.socket->SendTo(group, "self").ok());
  });
  EXPECT_TRUE(Until([&] { return member.heard == std::vector<std::string>{"self"}; }));
}

TEST_P(WorldConformanceTest, SocketDestroyedInItsHandlerHearsNoMore) {
  auto& receiver = Make<Receiver>();
  auto& sender = Make<Receiver>();
  Run([&] {
    receiver.on_datagram = [&] { receiver.socket.reset(); };
    receiver.Open(loop(), {.bind = kAnywhere});
    sender.Open(loop(), {.bind = kAnywhere});
    const Endpoint to = receiver.socket->local();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(sender.socket->SendTo(to, "x").ok());
  });
  ASSERT_TRUE(Until([&] { return !receiver.heard.empty(); }));
  Pass(milliseconds(3));
  Run([&] { EXPECT_EQ(receiver.heard.size(), 1u); });
}

TEST_P(WorldConformanceTest, JoiningAnInvalidGroupIsRefused) {
  Run([&] {
    const auto socket = loop().network().OpenDatagram({.multicast_group = Endpoint{0x0a000001, 99}},
                                                      [](const Endpoint&, std::string_view) {});
    EXPECT_EQ(socket.status().code(), StatusCode::kInvalidArgument) << socket.status();
  });
}

}  // namespace
}  // namespace neptune
