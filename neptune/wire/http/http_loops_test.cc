// Servers of several loops that share the node's connections, in the simulated world: a new client
// of one loop gets the place of an idle one of another.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/connection_slots.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/http_test_client.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kLoopCount = 3;
constexpr uint16_t kFirstPort = 80;
constexpr size_t kSlotCount = 48;

class HttpLoopsTest : public testing::Test {
 protected:
  // Each loop has a port of its own here, so that a test chooses the loop of a client.
  HttpLoopsTest() {
    World& host = simulator_.AddHost({.name = "server"});
    client_loop_ = *simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"});
    loops_.resize(kLoopCount);
    for (size_t i = 0; i < kLoopCount; ++i) {
      LoopServer& one = loops_[i];
      one.loop = *host.StartLoop({.name = StrCat("loop-", i)});
      one.loop->Post([this, &one, &host, i] {
        one.threads = std::make_unique<ThreadScheduler>(*one.loop);
        one.server = std::make_unique<HttpServer>(
            host, *one.threads, HttpServerOptions{.slots = slots_}, [](const HttpRequest& request) {
              if (request.path == "/wait") this_thread::SleepFor(seconds(5));
              return HttpResponse::Text(200, request.path);
            });
        ASSERT_TRUE(one.server->Listen({0, static_cast<uint16_t>(kFirstPort + i)}).ok());
      });
    }
    RunFor(milliseconds(1));
  }
  ~HttpLoopsTest() override {
    clients_.clear();
    RunFor(seconds(1));
    for (LoopServer& one : loops_) {
      one.loop->Post([&one] {
        one.server.reset();
        one.threads->Stop();
      });
    }
    RunFor(seconds(10));
    for (LoopServer& one : loops_) one.loop->Post([&one] { one.threads.reset(); });
    RunFor(seconds(1));
  }

  HttpTestClient& Ask(size_t loop, const char* path) {
    clients_.push_back(std::make_unique<HttpTestClient>(*client_loop_));
    clients_.back()->Connect(
        {simulator_.host("server").address(), static_cast<uint16_t>(kFirstPort + loop)});
    clients_.back()->Get(path);
    RunFor(milliseconds(5));
    return *clients_.back();
  }
  void RunFor(Duration duration) { simulator_.RunFor(duration); }

  struct LoopServer {
    Loop* loop = nullptr;
    std::unique_ptr<ThreadScheduler> threads{};
    std::unique_ptr<HttpServer> server{};
  };

  Simulator simulator_{26};
  const std::shared_ptr<ConnectionSlots> slots_ = std::make_shared<ConnectionSlots>(kSlotCount);
  Loop* client_loop_ = nullptr;
  std::vector<LoopServer> loops_;
  std::vector<std::unique_ptr<HttpTestClient>> clients_;
};

TEST_F(HttpLoopsTest, TheLongestIdleConnectionMayBeAnotherLoops) {
  for (size_t i = 0; i < kSlotCount; ++i) Ask(i % 2, "/a");
  EXPECT_EQ(slots_->used(), kSlotCount);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(Ask(2, "/b").Summary(), "200 /b;") << i;
  EXPECT_EQ(slots_->used(), kSlotCount);
  EXPECT_EQ(slots_->evicted_count(), 12u);
  EXPECT_EQ(slots_->refused_count(), 0u);
  for (size_t i = 0; i < kSlotCount; ++i) {
    EXPECT_EQ(clients_[i]->closed(), i < 12) << "the longest idle ones, of either loop: " << i;
  }
}

TEST_F(HttpLoopsTest, NoneIsTakenFromWork) {
  for (size_t i = 0; i < kSlotCount; ++i) Ask(i % 2, "/wait");
  HttpTestClient& refused = Ask(2, "/b");
  EXPECT_TRUE(refused.closed());
  EXPECT_EQ(slots_->refused_count(), 1u);
  RunFor(seconds(6));
  for (size_t i = 0; i < kSlotCount; ++i) EXPECT_EQ(clients_[i]->Summary(), "200 /wait;") << i;
}

}  // namespace
}  // namespace neptune
