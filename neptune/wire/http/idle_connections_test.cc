// Idle connections, until the process has no more descriptors, on real sockets: what one costs, and
// that a new client is answered beside them and in their place.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/wire/connection_slots.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

// Descriptors of loops, listeners, and of whatever ran before in this process.
constexpr size_t kOtherDescriptors = 200;
// More connections between two addresses would use up the system's ports.
constexpr size_t kIdleCountMax = 20'000;
constexpr size_t kNewCount = 200;
// Connections that are opened at once.
constexpr size_t kAtOnce = 100;
constexpr char kAnswerEnd = '$';

size_t HeapSize() { return mallinfo2().uordblks; }

// A client that asks one question and then stays silent. It holds little, because it shares the
// process with the server that is measured.
class SilentClient final : public StreamHandler {
 public:
  SilentClient(Loop& loop, const Endpoint& to, std::function<void()>* on_answer)
      : on_answer_(on_answer) {
    loop.network().Connect(to, loop.Now() + std::chrono::seconds(30),
                           [this](StatusOr<std::unique_ptr<Stream>> stream) {
                             ASSERT_TRUE(stream.ok()) << stream.status();
                             stream_ = *std::move(stream);
                             stream_->Start(this);
                             stream_->Write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
                           });
  }
  void OnData(std::string_view bytes) override {
    if (bytes.back() == kAnswerEnd) (*on_answer_)();
  }
  void OnClosed(const Status&) override { is_closed_ = true; }
  bool is_closed() const { return is_closed_; }

 private:
  std::function<void()>* const on_answer_;
  std::unique_ptr<Stream> stream_;
  bool is_closed_ = false;
};

class IdleConnectionsTest : public testing::Test {
 protected:
  IdleConnectionsTest() {
    server_loop_ = *world_->StartLoop({.name = "server"});
    client_loop_ = *world_->StartLoop({.name = "client"});
    const size_t limit = world_->resources().descriptor_limit;
    idle_count_ = std::min(kIdleCountMax, (limit - kOtherDescriptors) / 2 - 2 * kNewCount);
    slots_ = std::make_shared<ConnectionSlots>(idle_count_);
    clients_.reserve(idle_count_ + kNewCount);
    On(*server_loop_, [this] {
      threads_ = std::make_unique<ThreadScheduler>(*server_loop_);
      server_ = std::make_unique<HttpServer>(
          *world_, *threads_, HttpServerOptions{.slots = slots_}, [](const HttpRequest&) {
            return HttpResponse::Text(200, std::string(2000, 'x') + kAnswerEnd);
          });
      ASSERT_TRUE(server_->Listen({kLoopbackAddress, 0}).ok());
      at_ = server_->local();
    });
  }
  ~IdleConnectionsTest() override {
    On(*client_loop_, [this] { clients_.clear(); });
    On(*server_loop_, [this] { server_.reset(); });
    world_->Stop();
  }

  void On(Loop& loop, std::function<void()> work) {
    Notification done;
    loop.Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }

  // Opens connections that ask one question each; returns once all are answered.
  void Ask(size_t count) {
    Notification done;
    size_t begun = 0;
    size_t answered = 0;
    const auto begin = [&] {
      if (begun++ >= count) return;
      clients_.push_back(std::make_unique<SilentClient>(*client_loop_, at_, &on_answer_));
    };
    on_answer_ = [&, begin] {
      begin();
      if (++answered == count) done.Notify();
    };
    On(*client_loop_, [&] {
      for (size_t i = 0; i < kAtOnce; ++i) begin();
    });
    done.WaitForNotification();
    On(*server_loop_, [] {});  // what it sent last is flushed
  }
  size_t ClosedCount() {
    size_t closed = 0;
    On(*client_loop_, [&] {
      for (const auto& client : clients_) closed += client->is_closed() ? 1 : 0;
    });
    return closed;
  }

  const std::unique_ptr<World> world_ = MakeRealWorld({});
  Loop* server_loop_ = nullptr;
  Loop* client_loop_ = nullptr;
  size_t idle_count_ = 0;
  std::shared_ptr<ConnectionSlots> slots_;
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<HttpServer> server_;
  Endpoint at_;
  std::function<void()> on_answer_;
  std::vector<std::unique_ptr<SilentClient>> clients_;
};

TEST_F(IdleConnectionsTest, CostLittleAndGiveWayToNewOnes) {
  Ask(kAtOnce);  // what is allocated once
  const size_t before = HeapSize();
  Ask(idle_count_ - kAtOnce);
  const size_t each = (HeapSize() - before) / (idle_count_ - kAtOnce);
  RecordProperty("idle_count", static_cast<int>(idle_count_));
  RecordProperty("heap_bytes_of_both_ends", static_cast<int>(each));
  EXPECT_LE(each, 2560u) << "both ends of an idle connection";
  EXPECT_EQ(slots_->used(), idle_count_);
  EXPECT_EQ(ClosedCount(), 0u);

  Ask(kNewCount);
  EXPECT_EQ(slots_->evicted_count(), kNewCount);
  EXPECT_EQ(slots_->refused_count(), 0u);
}

}  // namespace
}  // namespace neptune
