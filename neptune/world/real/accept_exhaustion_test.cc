// A listener of a process that has no descriptors left.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <vector>

#include "neptune/base/descriptor.h"
#include "neptune/base/notification.h"
#include "neptune/world/network.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

constexpr int kPatienceMs = 10'000;

// Sets the soft limit of descriptors for a scope.
class LoweredLimit {
 public:
  explicit LoweredLimit(rlim_t limit) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit lowered{limit, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &lowered), 0);
  }
  ~LoweredLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

Descriptor OpenNull() { return Descriptor(open("/dev/null", O_RDONLY)); }

class AcceptExhaustionTest : public testing::Test {
 protected:
  ~AcceptExhaustionTest() override {
    OnLoop([&] {
      accepted_.clear();
      listener_.reset();
    });
    world_->Stop();
  }

  void Listen(int spare_count) {
    OnLoop([&] {
      ListenOptions options;
      options.spare_count = spare_count;
      options.on_exhausted = [this] { ++refused_count_; };
      auto listener = loop_->network().Listen({kLoopbackAddress, 0}, options,
                                              [this](std::unique_ptr<Stream> stream) {
                                                accepted_.push_back(std::move(stream));
                                                ++accepted_count_;
                                              });
      ASSERT_TRUE(listener.ok()) << listener.status();
      listener_ = *std::move(listener);
    });
  }

  void OnLoop(Task task) {
    Notification done;
    loop_->Post([&] {
      task();
      done.Notify();
    });
    done.WaitForNotification();
  }

  // Client sockets, made while there are descriptors.
  static std::vector<Descriptor> MakeClients(int count) {
    std::vector<Descriptor> clients;
    for (int i = 0; i < count; ++i) clients.emplace_back(socket(AF_INET, SOCK_STREAM, 0));
    return clients;
  }
  void Connect(const Descriptor& client) const {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(kLoopbackAddress);
    to.sin_port = htons(listener_->local().port);
    ASSERT_EQ(connect(client.number(), reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  }
  // True if the server closed the connection; waits for that.
  static bool IsClosed(const Descriptor& client) {
    pollfd wait{client.number(), POLLIN, 0};
    char byte = 0;
    return poll(&wait, 1, kPatienceMs) == 1 && recv(client.number(), &byte, 1, 0) <= 0;
  }
  bool AwaitAccepted(int count) {
    const TimePoint end = loop_->Now() + std::chrono::milliseconds(kPatienceMs);
    while (accepted_count_ < count && loop_->Now() < end) OnLoop([] {});
    return accepted_count_ >= count;
  }

  // A timer that is due after those by which the listener gets its spare descriptors again.
  void AwaitRefill() {
    Notification done;
    loop_->Post([&] {
      loop_->RunAt(loop_->Now() + std::chrono::milliseconds(200), [&] { done.Notify(); });
    });
    done.WaitForNotification();
  }

  const std::unique_ptr<World> world_ = MakeRealWorld({});
  Loop* const loop_ = *world_->StartLoop({.name = "loop"});
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Stream>> accepted_;  // on the loop
  std::atomic<int> accepted_count_{0};
  std::atomic<int> refused_count_{0};
};

TEST_F(AcceptExhaustionTest, ConnectionsWithoutADescriptorAreClosedAtOnce) {
  Listen(/*spare_count=*/1);
  const std::vector<Descriptor> clients = MakeClients(20);
  const Descriptor last = std::move(MakeClients(1)[0]);
  {
    const LoweredLimit limit(static_cast<rlim_t>(OpenNull().number()) + 5);
    for (const Descriptor& client : clients) Connect(client);
    for (size_t i = 5; i < clients.size(); ++i) EXPECT_TRUE(IsClosed(clients[i])) << i;
    OnLoop([&] {
      EXPECT_EQ(accepted_count_, 5);
      EXPECT_EQ(refused_count_, 15);
      accepted_.clear();
    });
    Connect(last);
    EXPECT_TRUE(AwaitAccepted(6)) << "it accepts again once there are descriptors";
  }
}

TEST_F(AcceptExhaustionTest, SpareDescriptorsServeConnectionsThatArriveThen) {
  Listen(/*spare_count=*/4);
  const std::vector<Descriptor> clients = MakeClients(5);
  const LoweredLimit limit(static_cast<rlim_t>(OpenNull().number()) + 5);
  std::vector<Descriptor> all;
  do {
    all.push_back(OpenNull());
  } while (all.back().open());
  for (int i = 0; i < 4; ++i) Connect(clients[i]);
  EXPECT_TRUE(IsClosed(clients[3]));
  OnLoop([&] {
    EXPECT_EQ(accepted_count_, 3);
    EXPECT_EQ(refused_count_, 1);
    accepted_.clear();
  });
  AwaitRefill();
  EXPECT_FALSE(OpenNull().open()) << "the freed descriptors are spare ones again";
  Connect(clients[4]);
  EXPECT_TRUE(AwaitAccepted(4));
}

}  // namespace
}  // namespace neptune
