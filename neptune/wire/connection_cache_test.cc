// Connections of one loop, shared by its user-level threads, over the simulated network.

#include "neptune/wire/connection_cache.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "neptune/wire/server_connection.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using SharedConnection = std::shared_ptr<ClientConnection>;

struct CountingSink final : public AnswerSink {
  void OnAnswer(StatusOr<CallAnswer>&& answer) override {
    ++answer_count;
    status = answer.status();
  }
  int answer_count = 0;
  Status status;
};

class ConnectionCacheTest : public testing::Test {
 protected:
  ConnectionCacheTest()
      : server_loop_(*simulator_.AddHost({.name = "server"}).StartLoop({.name = "loop"})),
        loop_(*simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"})) {}

  void Open(const ConnectionCacheOptions& options = {}) {
    loop_->Post([this, options] {
      scheduler_ = std::make_unique<ThreadScheduler>(*loop_);
      cache_ = std::make_unique<ConnectionCache>(*loop_, options);
    });
    simulator_.RunFor(milliseconds(1));
  }

  FrameServer& AddServer() {
    servers_.push_back(std::make_unique<FrameServer>(*server_loop_, FrameServerOptions(),
                                                     [this](IncomingRequest r) {
                                                       if (keeps_requests_)
                                                         kept_.push_back(std::move(r));
                                                     }));
    EXPECT_TRUE(servers_.back()->Listen({simulator_.host("server").address(), 0}, false).ok());
    return *servers_.back();
  }

  void Spawn(std::function<void()> body) {
    loop_->Post([this, body] { ASSERT_TRUE(scheduler_->Spawn(body).ok()); });
  }

  // Gets a connection on a thread of its own, and waits for the end.
  StatusOr<SharedConnection> Get(const Endpoint& to, Duration timeout = seconds(5)) {
    StatusOr<SharedConnection> result = Unavailable("not done");
    bool done = false;
    Spawn([&] {
      result = cache_->Get(to, this_thread::Now() + timeout);
      done = true;
    });
    EXPECT_TRUE(simulator_.RunUntilTrue([&] { return done; }, simulator_.now() + seconds(60)));
    return result;
  }

  Endpoint Closed() { return {simulator_.host("server").address(), 9}; }

  Simulator simulator_{1};
  Loop* const server_loop_;
  Loop* const loop_;
  bool keeps_requests_ = false;  // otherwise they are dropped, which answers them
  std::vector<IncomingRequest> kept_;
  std::vector<std::unique_ptr<FrameServer>> servers_;
  std::unique_ptr<ThreadScheduler> scheduler_;
  std::unique_ptr<ConnectionCache> cache_;
};

TEST_F(ConnectionCacheTest, CallersShareOneAttemptAndOneConnection) {
  Open();
  FrameServer& server = AddServer();
  std::vector<SharedConnection> connections;
  for (int i = 0; i < 10; ++i) {
    Spawn([&] { connections.push_back(*cache_->Get(server.local(), kNever)); });
  }
  simulator_.RunFor(milliseconds(10));
  ASSERT_EQ(connections.size(), 10u);
  for (const SharedConnection& connection : connections) EXPECT_EQ(connection, connections[0]);
  EXPECT_EQ(server.connection_count(), 1u);
  EXPECT_EQ(*Get(server.local()), connections[0]);
}

TEST_F(ConnectionCacheTest, RefusedAttemptFailsAllWaitersAndCountsOnce) {
  Open();
  int refused = 0;
  for (int i = 0; i < 5; ++i) {
    Spawn([&] {
      refused += cache_->Get(Closed(), kNever).status().code() == StatusCode::kUnavailable;
    });
  }
  simulator_.RunFor(milliseconds(10));
  EXPECT_EQ(refused, 5);
  EXPECT_EQ(cache_->failure_count(Closed()), 1);
  EXPECT_FALSE(Get(Closed()).ok());
  EXPECT_EQ(cache_->failure_count(Closed()), 2);
  cache_->ForgetFailures(Closed());
  EXPECT_EQ(cache_->failure_count(Closed()), 0);
}

TEST_F(ConnectionCacheTest, DeadlineEndsTheWaitAndIsNoFailureOfTheServer) {
  Open();
  FrameServer& server = AddServer();
  const LinkModel::CutId cut = simulator_.Partition({"server"}, {"client"});
  const TimePoint begin = simulator_.now();
  EXPECT_EQ(Get(server.local(), milliseconds(50)).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_LT(simulator_.now() - begin, milliseconds(51));
  EXPECT_EQ(cache_->failure_count(server.local()), 0);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(cache_->failure_count(server.local()), 1) << "the attempt itself failed later";
  simulator_.Heal(cut);
  EXPECT_TRUE(Get(server.local()).ok());
  EXPECT_EQ(cache_->failure_count(server.local()), 0);
}

TEST_F(ConnectionCacheTest, LeastRecentlyUsedIdleConnectionMakesRoom) {
  Open({.connection_count_max = 2});
  FrameServer& a = AddServer();
  FrameServer& b = AddServer();
  FrameServer& c = AddServer();
  for (FrameServer* server : {&a, &b, &a, &c}) ASSERT_TRUE(Get(server->local()).ok());
  simulator_.RunFor(milliseconds(10));
  EXPECT_EQ(a.connection_count(), 1u);
  EXPECT_EQ(b.connection_count(), 0u);
  EXPECT_EQ(c.connection_count(), 1u);
  EXPECT_EQ(cache_->connection_count(), 2u);
}

TEST_F(ConnectionCacheTest, ConnectionsInUseAreNotClosedForOthers) {
  Open({.connection_count_max = 1});
  FrameServer& a = AddServer();
  FrameServer& b = AddServer();
  const SharedConnection busy = *Get(a.local());
  CountingSink sink;
  // The handler drops the request, so the answer comes; until then the connection is in use.
  simulator_.Pause("server");
  ASSERT_TRUE(busy->Call({}, "x", &sink).ok());
  EXPECT_EQ(Get(b.local()).status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(busy->usable());
  simulator_.Resume("server");
  simulator_.RunFor(milliseconds(10));
  EXPECT_TRUE(Get(b.local()).ok());
}

TEST_F(ConnectionCacheTest, EndedConnectionIsReplaced) {
  Open();
  FrameServer& server = AddServer();
  const SharedConnection first = *Get(server.local());
  const Endpoint at = server.local();
  servers_.clear();
  simulator_.RunFor(milliseconds(10));
  EXPECT_FALSE(first->usable());
  EXPECT_EQ(cache_->connection_count(), 0u);
  EXPECT_EQ(Get(at).status().code(), StatusCode::kUnavailable);
}

TEST_F(ConnectionCacheTest, DrainingConnectionKeepsItsCallsThenHangsUp) {
  Open();
  FrameServer& server = AddServer();
  const Endpoint at = server.local();
  const SharedConnection first = *Get(at);
  keeps_requests_ = true;
  CountingSink sink;
  ASSERT_TRUE(first->Call({}, "x", &sink).ok());
  simulator_.RunFor(milliseconds(10));
  server.Drain();
  simulator_.RunFor(milliseconds(10));
  EXPECT_FALSE(first->usable());
  EXPECT_FALSE(Get(at).ok()) << "it accepts nothing more";
  EXPECT_EQ(server.connection_count(), 1u);
  kept_.clear();
  simulator_.RunFor(milliseconds(10));
  EXPECT_EQ(sink.answer_count, 1);
  EXPECT_EQ(server.connection_count(), 0u) << "the last answer is there";
}

TEST_F(ConnectionCacheTest, IdleDrainingConnectionHangsUpAtOnce) {
  Open();
  FrameServer& server = AddServer();
  const SharedConnection held = *Get(server.local());
  server.Drain();
  simulator_.RunFor(milliseconds(10));
  EXPECT_EQ(server.connection_count(), 0u);
}

TEST_F(ConnectionCacheTest, CallsWithoutAnAnswerAreReportedAndEndWithTheirConnection) {
  std::vector<Endpoint> unanswered;
  ConnectionCacheOptions options;
  options.on_unanswered = [&](const Endpoint& at) { unanswered.push_back(at); };
  Open(options);
  const Endpoint at = AddServer().local();
  keeps_requests_ = true;
  CountingSink sink;
  const SharedConnection connection = *Get(at);
  ASSERT_TRUE(connection->Call({}, "x", &sink).ok());
  simulator_.RunFor(milliseconds(250));
  EXPECT_TRUE(unanswered.empty());
  simulator_.RunFor(milliseconds(200));
  EXPECT_EQ(unanswered, std::vector<Endpoint>{at});
  loop_->Post([&] { cache_->Close(at); });
  simulator_.RunFor(milliseconds(10));
  EXPECT_EQ(sink.status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(cache_->connection_count(), 0u);
}

TEST_F(ConnectionCacheTest, ConnectionThatBringsAnswersOrHasNoCallsIsNotReported) {
  std::vector<Endpoint> unanswered;
  ConnectionCacheOptions options;
  options.on_unanswered = [&](const Endpoint& at) { unanswered.push_back(at); };
  Open(options);
  const Endpoint at = AddServer().local();
  CountingSink sink;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((*Get(at))->Call({}, "x", &sink).ok());
    simulator_.RunFor(milliseconds(50));
  }
  simulator_.RunFor(seconds(5));
  EXPECT_EQ(sink.answer_count, 20);
  EXPECT_TRUE(unanswered.empty());
}

TEST_F(ConnectionCacheTest, HeldConnectionOutlivesTheCache) {
  Open();
  FrameServer& server = AddServer();
  const SharedConnection held = *Get(server.local());
  cache_.reset();
  servers_.clear();
  simulator_.RunFor(milliseconds(10));
  EXPECT_FALSE(held->usable());
}

TEST_F(ConnectionCacheTest, StopEndsTheWait) {
  Open();
  FrameServer& server = AddServer();
  simulator_.Partition({"server"}, {"client"});
  Status status;
  Spawn([&] { status = cache_->Get(server.local(), kNever).status(); });
  simulator_.RunFor(milliseconds(10));
  loop_->Post([this] { scheduler_->Stop(); });
  simulator_.RunFor(milliseconds(10));
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace neptune
