// Connections and datagrams between hosts with the same, different and no keys, in the simulated
// world.

#include "neptune/security/secure_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/security/cluster_key.h"
#include "neptune/security/handshake_places.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kOld[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
constexpr char kNew[] = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeffe0e1e2e3e4e5e6e7e8e9eaebecedeeef";

// Echoes the received bytes, or only collects them.
class End final : public StreamHandler {
 public:
  explicit End(std::unique_ptr<Stream> stream, bool echoes)
      : stream_(std::move(stream)), echoes_(echoes) {
    stream_->Start(this);
  }
  void Send(std::string bytes) { stream_->Write(std::move(bytes)); }
  const std::string& received() const { return received_; }
  bool closed() const { return closed_; }

 private:
  void OnData(std::string_view bytes) override {
    received_ += bytes;
    if (echoes_) stream_->Write(std::string(bytes));
  }
  void OnClosed(const Status&) override { closed_ = true; }

  std::unique_ptr<Stream> stream_;
  const bool echoes_;
  std::string received_;
  bool closed_ = false;
};

class SecureNetworkTest : public testing::Test {
 protected:
  struct Host {
    Loop* loop = nullptr;
    RefusalLog refusals;
    std::unique_ptr<SecureNetwork> network;
  };

  SecureNetworkTest() : simulator_(1) {
    for (const char* name : {"caller", "server"}) {
      HostOptions options;
      options.name = name;
      options.boot = [](World&) { return std::make_shared<int>(0); };
      simulator_.AddHost(std::move(options));
      hosts_[name].loop = *simulator_.host(name).StartLoop({.name = "loop"});
    }
  }
  ~SecureNetworkTest() override {
    server_.reset();
    caller_.reset();
    listener_.reset();
    for (auto& [name, host] : hosts_) host.network.reset();
  }

  void Secure(const std::string& host, const std::string& keys, size_t handshake_count_max = 1024) {
    SecureNetworkOptions options;
    if (!keys.empty()) {
      options.keys = std::make_shared<const ClusterKeys>(*ClusterKeys::Parse(keys, "test"));
    }
    options.refusals = &hosts_[host].refusals;
    options.handshake_count_max = handshake_count_max;
    hosts_[host].network = std::make_unique<SecureNetwork>(*hosts_[host].loop, options);
  }
  Network& NetworkOf(const std::string& host) {
    Host& of = hosts_[host];
    return of.network == nullptr ? of.loop->network() : *of.network;
  }
  void Listen() {
    hosts_["server"].loop->Post([this] {
      listener_ = *NetworkOf("server").Listen(address(), {}, [this](std::unique_ptr<Stream> s) {
        server_ = std::make_unique<End>(std::move(s), true);
      });
    });
    simulator_.RunFor(milliseconds(1));
  }
  Endpoint address() { return {simulator_.host("server").address(), 77}; }
  // Returns the status passed to the connect callback.
  Status Connect(Network& network) {
    std::optional<Status> outcome;
    Loop& loop = *hosts_["caller"].loop;
    loop.Post([&] {
      network.Connect(address(), loop.Now() + seconds(1),
                      [&](StatusOr<std::unique_ptr<Stream>> stream) {
                        outcome = stream.status();
                        if (stream.ok()) caller_ = std::make_unique<End>(*std::move(stream), false);
                      });
    });
    simulator_.RunUntilTrue([&] { return outcome.has_value(); }, simulator_.now() + seconds(5));
    EXPECT_TRUE(outcome.has_value());
    return outcome.value_or(Internal("no callback"));
  }
  std::string Echo(const std::string& text) {
    hosts_["caller"].loop->Post([&] { caller_->Send(text); });
    simulator_.RunFor(seconds(5));
    return caller_->received();
  }
  uint64_t refused(const std::string& host, Refusal kind) {
    return hosts_[host].refusals.count(kind);
  }

  Simulator simulator_;
  std::map<std::string, Host> hosts_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<End> server_;
  std::unique_ptr<End> caller_;
};

TEST_F(SecureNetworkTest, TheSameKeyCarriesBytesBothWays) {
  Secure("caller", kOld);
  Secure("server", kOld);
  Listen();
  ASSERT_TRUE(Connect(NetworkOf("caller")).ok());
  const std::string text(500'000, 'x');
  EXPECT_EQ(Echo(text), text);
}

TEST_F(SecureNetworkTest, ADifferentKeyIsRefusedAndBothEndsKnowWhy) {
  Secure("caller", kOld);
  Secure("server", kNew);
  Listen();
  const Status status = Connect(NetworkOf("caller"));
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("none of the cluster keys"), absl::string_view::npos) << status;
  EXPECT_EQ(refused("caller", Refusal::kMade), 1u);
  EXPECT_EQ(refused("server", Refusal::kAccepted), 1u);
  EXPECT_EQ(server_, nullptr);
  StatusReport report;
  hosts_["server"].refusals.Show(&report);
  ASSERT_EQ(report.tables[0].rows.size(), 1u);
}

TEST_F(SecureNetworkTest, ACallerWithoutAKeyIsClosed) {
  Secure("server", kOld);
  Listen();
  ASSERT_TRUE(Connect(NetworkOf("caller")).ok());
  EXPECT_EQ(Echo("NPT1 and so on"), "");
  EXPECT_TRUE(caller_->closed());
  EXPECT_EQ(server_, nullptr);
  EXPECT_EQ(refused("server", Refusal::kAccepted), 1u);
}

TEST_F(SecureNetworkTest, AServerWithoutAKeyIsNotBelieved) {
  Secure("caller", kOld);
  Listen();  // it sends the hello back
  const Status status = Connect(NetworkOf("caller"));
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(refused("caller", Refusal::kMade), 1u);
}

TEST_F(SecureNetworkTest, SilentConnectionsAreClosedInTime) {
  Secure("server", kOld);
  Listen();
  ASSERT_TRUE(Connect(NetworkOf("caller")).ok());
  simulator_.RunFor(seconds(3));
  EXPECT_TRUE(caller_->closed());
  EXPECT_EQ(refused("server", Refusal::kLate), 1u);
}

TEST_F(SecureNetworkTest, TheOldestOfTooManySilentConnectionsIsClosed) {
  Secure("server", kOld, 2);
  Listen();
  Loop& loop = *hosts_["caller"].loop;
  std::vector<std::unique_ptr<End>> silent;
  loop.Post([&] {
    for (int i = 0; i < 3; ++i) {
      loop.network().Connect(address(), loop.Now() + seconds(1),
                             [&](StatusOr<std::unique_ptr<Stream>> stream) {
                               silent.push_back(std::make_unique<End>(*std::move(stream), false));
                             });
    }
  });
  simulator_.RunFor(milliseconds(500));
  ASSERT_EQ(silent.size(), 3u);
  EXPECT_TRUE(silent[0]->closed());
  EXPECT_FALSE(silent[1]->closed() || silent[2]->closed());
  EXPECT_EQ(refused("server", Refusal::kCrowded), 1u);
}

TEST_F(SecureNetworkTest, ACrowdOfOneAddressDoesNotKeepOthersOut) {
  constexpr size_t kCount = 100;
  Secure("server", kOld, kCount);
  Secure("caller", kOld);
  Listen();
  Loop& crowd = **simulator_.AddHost({.name = "crowd"}).StartLoop({.name = "loop"});
  std::vector<std::unique_ptr<End>> silent;
  crowd.Post([&] {
    for (size_t i = 0; i < 3 * kCount; ++i) {
      crowd.network().Connect(address(), crowd.Now() + seconds(1),
                              [&](StatusOr<std::unique_ptr<Stream>> stream) {
                                silent.push_back(std::make_unique<End>(*std::move(stream), false));
                              });
    }
  });
  simulator_.RunFor(milliseconds(100));
  const auto closed_count = [&] {
    return static_cast<size_t>(
        std::count_if(silent.begin(), silent.end(), [](const auto& end) { return end->closed(); }));
  };
  EXPECT_EQ(closed_count(), 3 * kCount - HandshakePlaces::kAddressCountMin);
  EXPECT_TRUE(Connect(NetworkOf("caller")).ok());
  silent.clear();
}

TEST_F(SecureNetworkTest, DatagramsWithoutTheKeyAreDroppedAndCounted) {
  Secure("caller", kOld);
  Secure("server", kOld);
  std::string heard;
  std::unique_ptr<DatagramSocket> socket;
  std::unique_ptr<DatagramSocket> member;
  std::unique_ptr<DatagramSocket> stranger;
  hosts_["server"].loop->Post([&] {
    socket = *NetworkOf("server").OpenDatagram(
        {.bind = address()}, [&](const Endpoint&, std::string_view bytes) { heard += bytes; });
  });
  simulator_.RunFor(milliseconds(1));
  Loop& loop = *hosts_["caller"].loop;
  const Endpoint own{simulator_.host("caller").address(), 0};
  const auto ignore = [](const Endpoint&, std::string_view) {};
  loop.Post([&] {
    member = *NetworkOf("caller").OpenDatagram({.bind = own}, ignore);
    stranger = *loop.network().OpenDatagram({.bind = own}, ignore);
    EXPECT_TRUE(member->SendTo(address(), "member").ok());
    EXPECT_TRUE(stranger->SendTo(address(), "stranger").ok());
  });
  simulator_.RunFor(milliseconds(100));
  EXPECT_EQ(heard, "member");
  EXPECT_EQ(refused("server", Refusal::kDatagram), 1u);
}

}  // namespace
}  // namespace neptune
