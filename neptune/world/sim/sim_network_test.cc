#include "neptune/world/sim/sim_network.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint16_t kPort = 80;

// Records what arrived at one end of a stream, and when.
struct End : StreamHandler {
  explicit End(Simulator& of) : simulator(of) {}
  void OnData(std::string_view bytes) override {
    data += bytes;
    data_at = simulator.now();
  }
  void OnClosed(const Status& why) override {
    ++closed_count;
    reason = why;
    closed_at = simulator.now();
  }
  void OnDrained() override { ++drained_count; }

  Simulator& simulator;
  std::unique_ptr<Stream> stream;
  std::string data;
  TimePoint data_at;
  TimePoint closed_at;
  int closed_count = 0;
  int drained_count = 0;
  Status reason;
};

// Hosts a and b with one loop each, and the constant delays of the paper; b listens.
class SimNetworkTest : public testing::Test {
 protected:
  SimNetworkTest() { b_listener_ = ListenAt(b_); }

  std::unique_ptr<Listener> ListenAt(Loop* loop, const ListenOptions& options = {}) {
    return *loop->network().Listen({0, kPort}, options, [this](std::unique_ptr<Stream> stream) {
      server_.stream = std::move(stream);
      server_.stream->Start(&server_);
      ++accepted_count_;
    });
  }

  Loop* AddLoop(const std::string& host) {
    return *simulator_.AddHost({.name = host}).StartLoop({.name = "loop"});
  }
  uint32_t AddressOf(const std::string& host) { return simulator_.host(host).address(); }

  void StartConnect(Duration limit = seconds(60)) {
    a_->network().Connect({AddressOf("b"), kPort}, simulator_.now() + limit,
                          [this](StatusOr<std::unique_ptr<Stream>> stream) {
                            connected_at_ = simulator_.now();
                            connect_status_ = stream.status();
                            if (!stream.ok()) return;
                            client_.stream = *std::move(stream);
                            client_.stream->Start(&client_);
                          });
  }
  void Connect() {
    StartConnect();
    simulator_.RunFor(milliseconds(1));
    ASSERT_TRUE(client_.stream != nullptr && server_.stream != nullptr) << connect_status_;
  }

  Simulator simulator_{1, {.network = kPaperCluster}};
  Loop* a_ = AddLoop("a");
  Loop* b_ = AddLoop("b");
  End client_{simulator_};
  End server_{simulator_};
  std::unique_ptr<Listener> b_listener_;
  TimePoint connected_at_;
  Status connect_status_;
  int accepted_count_ = 0;
};

TEST_F(SimNetworkTest, ConnectTakesARoundTripAndAMessageHalfOfOne) {
  Connect();
  EXPECT_EQ(connected_at_, TimePoint(microseconds(340)));
  const TimePoint sent = simulator_.now();
  client_.stream->Write("x");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data_at - sent, microseconds(170));
}

TEST_F(SimNetworkTest, LatencyFactorStretchesDelays) {
  Connect();
  simulator_.SetLinks({.latency_factor = 10});
  const TimePoint sent = simulator_.now();
  client_.stream->Write("x");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data_at - sent, microseconds(1700));
}

TEST_F(SimNetworkTest, OneLinkCanDifferFromTheOthers) {
  Connect();
  simulator_.SetLink("a", "b", {.latency_factor = 10});
  const TimePoint sent = simulator_.now();
  client_.stream->Write("x");
  server_.stream->Write("y");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data_at - sent, microseconds(1700));
  EXPECT_EQ(client_.data_at - sent, microseconds(170));
}

TEST_F(SimNetworkTest, LeakyCutDelaysMessagesInOneDirection) {
  Connect();
  simulator_.LoseOneWay({"a"}, {"b"}, 0.9);
  const TimePoint sent = simulator_.now();
  for (int i = 0; i < 20; ++i) client_.stream->Write("x");
  server_.stream->Write("y");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data.size(), 20u);
  EXPECT_EQ(server_.data_at - sent, kRetransmitTimeout + microseconds(170));
  EXPECT_EQ(client_.data_at - sent, microseconds(170));
}

TEST_F(SimNetworkTest, LossOfStreamsIsDelayOnly) {
  Connect();
  simulator_.SetLinks({.stream_loss = 0.2});
  const TimePoint sent = simulator_.now();
  std::string all;
  for (int i = 0; i < 100; ++i) {
    all += std::to_string(i);
    client_.stream->Write(std::to_string(i));
  }
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data, all);
  EXPECT_EQ(server_.data_at - sent, kRetransmitTimeout + microseconds(170));
}

TEST_F(SimNetworkTest, ACutSilencesAStreamUntilItHeals) {
  Connect();
  const auto cut = simulator_.Partition({"a"}, {"b"});
  client_.stream->Write("one ");
  client_.stream->Write("two");
  simulator_.RunFor(seconds(100));
  EXPECT_EQ(server_.data, "");
  EXPECT_EQ(client_.closed_count, 0);
  simulator_.Heal(cut);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data, "one two");
}

TEST_F(SimNetworkTest, CloseDuringACutArrivesAfterIt) {
  Connect();
  const auto cut = simulator_.Partition({"a"}, {"b"});
  client_.stream->Write("last");
  client_.stream->Close();
  client_.stream.reset();
  simulator_.RunFor(seconds(10));
  EXPECT_EQ(server_.closed_count, 0);
  simulator_.Heal(cut);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data, "last");
  EXPECT_EQ(server_.closed_count, 1);
  EXPECT_TRUE(server_.reason.ok()) << server_.reason;
}

TEST_F(SimNetworkTest, AStreamGivesUpAfterALongSilence) {
  Connect();
  simulator_.Partition({"a"}, {"b"});
  const TimePoint sent = simulator_.now();
  client_.stream->Write("anyone");
  simulator_.RunFor(kStreamSilenceMax + seconds(1));
  EXPECT_EQ(client_.closed_at - sent, kStreamSilenceMax);
  EXPECT_EQ(client_.reason.code(), StatusCode::kUnavailable);
}

TEST_F(SimNetworkTest, AOneWayCutStopsOneDirection) {
  Connect();
  simulator_.Partition({"a"}, {"b"}, /*both_ways=*/false);
  client_.stream->Write("lost");
  server_.stream->Write("heard");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data, "");
  EXPECT_EQ(client_.data, "heard");
}

TEST_F(SimNetworkTest, ConnectAcrossACutEndsAtItsDeadline) {
  simulator_.Partition({"a"}, {"b"});
  StartConnect(seconds(5));
  simulator_.RunFor(seconds(10));
  EXPECT_EQ(connected_at_, TimePoint(seconds(5)));
  EXPECT_EQ(connect_status_.code(), StatusCode::kDeadlineExceeded);
}

TEST_F(SimNetworkTest, ConnectIsRepeatedWhenACutHeals) {
  simulator_.Partition({"a"}, {"b"});
  simulator_.At(TimePoint(milliseconds(1500)), [this] { simulator_.HealAll(); });
  StartConnect();
  simulator_.RunFor(seconds(10));
  EXPECT_TRUE(connect_status_.ok());
  EXPECT_EQ(connected_at_, TimePoint(seconds(3) + microseconds(340)));  // tries at 0, 1 and 3 s
}

TEST_F(SimNetworkTest, ConnectToAnUnusedAddressIsUnreachable) {
  a_->network().Connect({0x0b0b0b0b, kPort}, kNever, [this](StatusOr<std::unique_ptr<Stream>> s) {
    connected_at_ = simulator_.now();
    connect_status_ = s.status();
  });
  simulator_.RunFor(seconds(10));
  EXPECT_EQ(connect_status_.code(), StatusCode::kUnavailable);
  EXPECT_EQ(connected_at_, TimePoint(kUnreachableDelay));
}

TEST_F(SimNetworkTest, AStreamOpenedAfterTheDeadlineIsClosedAtTheServer) {
  simulator_.SetLink("b", "a", {.latency_factor = 1000});
  StartConnect(milliseconds(50));
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(connect_status_.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(server_.closed_count, 1);
}

TEST_F(SimNetworkTest, CrashedMachineResetsASender) {
  Connect();
  simulator_.Crash("b", CrashKind::kMachine);
  simulator_.RunFor(seconds(10));
  EXPECT_EQ(client_.closed_count, 0);
  client_.stream->Write("x");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(client_.closed_count, 1);
  EXPECT_EQ(client_.reason.code(), StatusCode::kUnavailable);
}

TEST_F(SimNetworkTest, CrashedMachineResetsAPeerThatWaitsForAnAnswer) {
  Connect();
  client_.stream->Write("x");
  simulator_.Crash("b", CrashKind::kMachine);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(client_.closed_count, 1);
}

TEST_F(SimNetworkTest, KilledProcessResetsItsPeersAtOnce) {
  Connect();
  simulator_.Crash("b", CrashKind::kProcess);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(client_.closed_count, 1);
  EXPECT_EQ(server_.closed_count, 0) << "a crashed host receives no events";
}

TEST_F(SimNetworkTest, CrashBehindACutIsSilent) {
  Connect();
  simulator_.Partition({"a"}, {"b"});
  simulator_.Crash("b", CrashKind::kProcess);
  client_.stream->Write("x");
  simulator_.RunFor(seconds(10));
  EXPECT_EQ(client_.closed_count, 0);
  simulator_.HealAll();
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(client_.closed_count, 1);
}

TEST_F(SimNetworkTest, CrashedHostRefusesAndListensAgainAfterRestart) {
  simulator_.Crash("b");
  StartConnect();
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(connect_status_.code(), StatusCode::kUnavailable);
  simulator_.Restart("b");
  b_ = *simulator_.host("b").StartLoop({.name = "loop"});
  b_listener_ = ListenAt(b_);
  Connect();
}

TEST_F(SimNetworkTest, SocketsOfACrashedHostMayOutliveIt) {
  Connect();
  simulator_.Crash("b");
  server_.stream->Write("x");
  server_.stream->Close();
  server_.stream.reset();
  b_listener_.reset();
  simulator_.RunFor(seconds(1));
}

TEST_F(SimNetworkTest, PausedHostAcceptsInItsKernelOnly) {
  simulator_.Pause("b");
  StartConnect();
  simulator_.RunFor(seconds(1));
  ASSERT_NE(client_.stream, nullptr);
  client_.stream->Write("waiting");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(accepted_count_, 0);
  simulator_.Resume("b");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data, "waiting");
}

TEST_F(SimNetworkTest, FullBacklogMakesConnectsWait) {
  b_listener_.reset();
  b_listener_ = ListenAt(b_, {.backlog = 1});
  simulator_.Pause("b");
  int connected_count = 0;
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 3; ++i) {
    a_->network().Connect({AddressOf("b"), kPort}, kNever,
                          [&](StatusOr<std::unique_ptr<Stream>> stream) {
                            ++connected_count;
                            streams.push_back(*std::move(stream));
                          });
  }
  simulator_.RunFor(milliseconds(500));
  EXPECT_EQ(connected_count, 1);
  simulator_.Resume("b");
  simulator_.RunFor(seconds(30));
  EXPECT_EQ(connected_count, 3);
}

TEST_F(SimNetworkTest, WindowHoldsBackTheWriter) {
  Connect();
  server_.stream->SetReading(false);
  const size_t size = 3 * kStreamWindowSize;
  client_.stream->Write(std::string(size, 'x'));
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(client_.stream->unsent_size(), size - kStreamWindowSize);
  EXPECT_EQ(client_.drained_count, 0);
  server_.stream->SetReading(true);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.data.size(), size);
  EXPECT_EQ(client_.drained_count, 1);
}

TEST_F(SimNetworkTest, SharedPortIsServedInTurn) {
  b_listener_.reset();
  Loop* second = *simulator_.host("b").StartLoop({.name = "second"});
  int counts[2] = {0, 0};
  std::vector<std::unique_ptr<Listener>> listeners;
  for (int i = 0; i < 2; ++i) {
    Loop* loop = i == 0 ? b_ : second;
    listeners.push_back(*loop->network().Listen({0, kPort}, {.share_port = true},
                                                [&, i](std::unique_ptr<Stream>) { ++counts[i]; }));
  }
  for (int i = 0; i < 10; ++i) StartConnect();
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(counts[0], 5);
  EXPECT_EQ(counts[1], 5);
}

TEST_F(SimNetworkTest, LoopbackListenerIsUnreachableFromOtherHosts) {
  b_listener_.reset();
  b_listener_ =
      *b_->network().Listen({kLoopbackAddress, kPort}, {}, [](std::unique_ptr<Stream>) {});
  StartConnect();
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(connect_status_.code(), StatusCode::kUnavailable);
}

TEST(SimBandwidthTest, LargeDataTakesItsTime) {
  NetworkProfile profile = kPaperCluster;
  profile.between_hosts.bytes_per_second = 10'000'000;
  Simulator simulator(1, {.network = profile});
  Loop* a = *simulator.AddHost({.name = "a"}).StartLoop({.name = "loop"});
  Loop* b = *simulator.AddHost({.name = "b"}).StartLoop({.name = "loop"});
  End client(simulator);
  End server(simulator);
  auto listener = *b->network().Listen({0, kPort}, {}, [&](std::unique_ptr<Stream> stream) {
    server.stream = std::move(stream);
    server.stream->Start(&server);
  });
  a->network().Connect({simulator.host("b").address(), kPort}, kNever,
                       [&](StatusOr<std::unique_ptr<Stream>> stream) {
                         client.stream = *std::move(stream);
                         client.stream->Write(std::string(1'000'000, 'x'));
                       });
  simulator.RunFor(seconds(1));
  ASSERT_EQ(server.data.size(), 1'000'000u);
  EXPECT_GE(server.data_at, TimePoint(milliseconds(100)));
  EXPECT_LT(server.data_at, TimePoint(milliseconds(102)));
}

}  // namespace
}  // namespace neptune
