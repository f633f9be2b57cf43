// Tests hiredis, the blocking client library of Redis, unmodified, on user-level threads with a
// real server.

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <signal.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <string>

#include "neptune/base/strings.h"
#include "neptune/interpose/user_threads.h"
#include "tests/clients/redis_server.h"

namespace neptune {
namespace {

using interpose::UserThreads;

struct ReplyDeleter {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, ReplyDeleter>;

struct ContextDeleter {
  void operator()(redisContext* context) const { redisFree(context); }
};
using Context = std::unique_ptr<redisContext, ContextDeleter>;

Reply Command(const Context& context, const std::string& command) {
  return Reply(static_cast<redisReply*>(redisCommand(context.get(), command.c_str())));
}

class HiredisTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = RedisServer::Start();
    if (server.status().code() == StatusCode::kNotFound) {
      std::cerr << "SKIPPED: " << server.status() << "\n";
      GTEST_SKIP() << "SKIPPED: no redis-server";
    }
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  Context Connect() { return Context(redisConnect("127.0.0.1", server_->port())); }

  // Sets and gets keys of one client and compares the values.
  void UseAsClient(int client, int command_count) {
    // Every other client comes through the socket file.
    const Context context =
        client % 2 == 0 ? Connect() : Context(redisConnectUnix(server_->socket_path().c_str()));
    ASSERT_NE(context, nullptr);
    ASSERT_EQ(context->err, 0) << context->errstr;
    for (int i = 0; i < command_count; ++i) {
      const std::string value = StrCat("value-", client, "-", i);
      const Reply set = Command(context, StrCat("SET key-", client, " ", value));
      ASSERT_NE(set, nullptr) << context->errstr;
      const Reply get = Command(context, StrCat("GET key-", client));
      ASSERT_NE(get, nullptr) << context->errstr;
      ASSERT_EQ(std::string(get->str, get->len), value);
      ++answered_count_;
    }
  }

  std::unique_ptr<RedisServer> server_;
  std::atomic<int> answered_count_{0};
};

TEST_F(HiredisTest, HundredsOfBlockingClientsOnTwoKernelThreads) {
  UserThreads threads(2);
  constexpr int kClientCount = 400;
  constexpr int kCommandCount = 25;
  for (int client = 0; client < kClientCount; ++client) {
    threads.Start(client % 2, [this, client] { UseAsClient(client, kCommandCount); });
  }
  threads.Wait();
  EXPECT_EQ(answered_count_, kClientCount * kCommandCount);
}

TEST_F(HiredisTest, UnrelatedHandlersRunWhileTheServerHangs) {
  UserThreads threads(2);
  constexpr int kClientCount = 200;
  server_->Signal(SIGSTOP);
  for (int client = 0; client < kClientCount; ++client) {
    threads.Start(client % 2, [this, client] { UseAsClient(client, 3); });
  }
  // Runs more often than once per ready thread; if a client blocked a kernel thread, this would not
  // end.
  std::atomic<int> unrelated_count{0};
  for (size_t loop = 0; loop < 2; ++loop) {
    Notification done;
    threads.OnLoop(loop, [&] {
      ASSERT_TRUE(threads.scheduler(loop)
                      .Spawn([&] {
                        for (int i = 0; i < 1000; ++i) {
                          this_thread::Yield();
                          ++unrelated_count;
                        }
                        done.Notify();
                      })
                      .ok());
    });
    done.WaitForNotification();
  }
  EXPECT_EQ(unrelated_count, 2000);
  EXPECT_EQ(answered_count_, 0);
  server_->Signal(SIGCONT);
  threads.Wait();
  EXPECT_EQ(answered_count_, kClientCount * 3);
}

TEST_F(HiredisTest, ClientTimeoutsAreObserved) {
  UserThreads threads;
  threads.Run({[&] {
    const Context context = Connect();
    ASSERT_EQ(context->err, 0) << context->errstr;
    ASSERT_EQ(redisSetTimeout(context.get(), timeval{0, 20'000}), REDIS_OK);
    server_->Signal(SIGSTOP);
    EXPECT_EQ(Command(context, "PING"), nullptr);
    EXPECT_EQ(context->err, REDIS_ERR_IO);
    EXPECT_STREQ(context->errstr, "Resource temporarily unavailable");
    server_->Signal(SIGCONT);
    const Context second(redisConnectWithTimeout("127.0.0.1", server_->port(), timeval{10, 0}));
    ASSERT_EQ(second->err, 0) << second->errstr;
    const Reply pong = Command(second, "PING");
    ASSERT_NE(pong, nullptr);
    EXPECT_STREQ(pong->str, "PONG");
  }});
}

TEST_F(HiredisTest, CallsFailWhenTheServerEnds) {
  UserThreads threads;
  constexpr int kClientCount = 50;
  int waiting_count = 0;
  std::vector<std::function<void()>> bodies;
  for (int client = 0; client < kClientCount; ++client) {
    bodies.push_back([&] {
      const Context context = Connect();
      ASSERT_EQ(context->err, 0) << context->errstr;
      ++waiting_count;
      EXPECT_EQ(Command(context, "BLPOP nothing 0"), nullptr);
      EXPECT_NE(context->err, 0);
    });
  }
  bodies.push_back([&] {
    while (waiting_count < kClientCount) this_thread::Yield();
    server_->Signal(SIGKILL);
  });
  threads.Run(std::move(bodies));
}

}  // namespace
}  // namespace neptune
