// Servers on several loops in the real world: no request writes what a request of another loop
// writes, by either way of the server.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/memory_budget.h"
#include "neptune/base/metrics.h"
#include "neptune/base/notification.h"
#include "neptune/base/shared_writes.h"
#include "neptune/base/strings.h"
#include "neptune/wire/connection_slots.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

constexpr size_t kLoopCount = 2;
constexpr uint64_t kRounds = 20;

class ShortWay final : public HttpShortWay {
 public:
  bool Answer(const HttpGlance& request, std::string* out) override {
    if (request.target != "/short") return false;
    *out += head_.begin;
    *out += head_.end;
    *out += "hello";
    return true;
  }

 private:
  const PreparedHttpHead head_ = PrepareHead(HttpResponse::Text(200, "hello"));
};

// A client that waits for each answer.
class Client {
 public:
  explicit Client(const Endpoint& to) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(to.port);
    address.sin_addr.s_addr = htonl(kLoopbackAddress);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(socket_); }

  void Ask(std::string_view target) {
    char bytes[4096];
    const int size = snprintf(bytes, sizeof(bytes), "GET %.*s HTTP/1.1\r\nHost: x\r\n\r\n",
                              static_cast<int>(target.size()), target.data());
    EXPECT_EQ(send(socket_, bytes, static_cast<size_t>(size), 0), size);
    size_t received = 0;
    while (!std::string_view(bytes, received).ends_with("hello")) {
      const ssize_t more = recv(socket_, bytes + received, sizeof(bytes) - received, 0);
      ASSERT_GT(more, 0);
      received += static_cast<size_t>(more);
    }
  }

 private:
  const int socket_;
};

class HttpSharedWritesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!SharedWrites::IsSupported()) GTEST_SKIP() << "writes cannot be watched in this build";
    // The system writes to buffers of loops; they are made before.
    for (auto& server : servers_) server.loop = *world_->StartLoop({.name = "server"});
    SharedWrites::KeepAllocations(true);
    registry_ = std::make_unique<MetricsRegistry>();
    metrics_ = std::make_unique<HttpServerMetrics>(*HttpServerMetrics::Make(*registry_, "test"));
    shared_word_ = std::make_unique<std::atomic<uint64_t>>(0);
    for (auto& server : servers_) Start(&server);
    for (const auto& server : servers_) {
      clients_.push_back(std::make_unique<Client>(server.server->local()));
      for (int i = 0; i < 5; ++i) {
        for (const char* target : {"/ordinary", "/short", "/shared"}) clients_.back()->Ask(target);
      }
    }
    SharedWrites::KeepAllocations(false);
  }
  void TearDown() override {
    clients_.clear();
    for (auto& server : servers_) {
      if (server.loop != nullptr) RunOn(*server.loop, [&] { server.server.reset(); });
    }
    world_->Stop();
  }

  struct LoopServer {
    Loop* loop = nullptr;
    ShortWay short_way{};
    std::unique_ptr<ThreadScheduler> threads{};
    std::unique_ptr<HttpServer> server{};
  };

  static void RunOn(Loop& loop, const std::function<void()>& work) {
    Notification done;
    loop.Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }

  void Start(LoopServer* server) {
    RunOn(*server->loop, [&] {
      SharedWrites::AdmitThisThread();
      server->threads = std::make_unique<ThreadScheduler>(*server->loop);
      server->server =
          std::make_unique<HttpServer>(*world_, *server->threads,
                                       HttpServerOptions{.short_way = &server->short_way,
                                                         .memory = memory_,
                                                         .slots = slots_,
                                                         .metrics = metrics_.get()},
                                       [this](const HttpRequest& request) {
                                         if (request.path == "/shared") shared_word_->fetch_add(1);
                                         return HttpResponse::Text(200, "hello");
                                       });
      ASSERT_TRUE(server->server->Listen({kLoopbackAddress, 0}).ok());
    });
  }

  // Lines that requests of both loops write each time.
  std::vector<SharedWrites::Line> SharedBy(std::string_view target) {
    SharedWrites::Watch([&] {
      for (const auto& client : clients_) {
        for (uint64_t round = 0; round < kRounds; ++round) client->Ask(target);
      }
    });
    EXPECT_FALSE(SharedWrites::WrittenByAtLeast(1, kRounds).empty()) << "nothing was watched";
    return SharedWrites::WrittenByAtLeast(2, kRounds);
  }

  const std::unique_ptr<World> world_ = MakeRealWorld({});
  const std::shared_ptr<ConnectionSlots> slots_ = std::make_shared<ConnectionSlots>(1000);
  const std::shared_ptr<MemoryBudget> memory_ = std::make_shared<MemoryBudget>(64 << 20);
  std::unique_ptr<MetricsRegistry> registry_;
  std::unique_ptr<HttpServerMetrics> metrics_;
  std::unique_ptr<std::atomic<uint64_t>> shared_word_;
  std::array<LoopServer, kLoopCount> servers_;
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(HttpSharedWritesTest, ARequestWritesNothingThatAnotherLoopWrites) {
  const auto lines = SharedBy("/ordinary");
  EXPECT_TRUE(lines.empty()) << SharedWrites::Describe(lines);
}

TEST_F(HttpSharedWritesTest, NorDoesOneThatTakesTheShortWay) {
  const auto lines = SharedBy("/short");
  EXPECT_TRUE(lines.empty()) << SharedWrites::Describe(lines);
}

TEST_F(HttpSharedWritesTest, AWordThatHandlersShareIsFound) {
  const auto lines = SharedBy("/shared");
  EXPECT_EQ(lines.size(), 1u) << SharedWrites::Describe(lines);
}

}  // namespace
}  // namespace neptune
