// Tests MariaDB's blocking client library, unmodified, on user-level threads with a real server.

#include <gtest/gtest.h>
#include <mariadb/errmsg.h>
#include <mariadb/mysql.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/interpose/user_threads.h"
#include "tests/clients/mariadb_server.h"

namespace neptune {
namespace {

using interpose::UserThreads;
using Connection = std::unique_ptr<MYSQL, decltype(&mysql_close)>;
using Result = std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)>;

class MariadbTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = MariadbServer::Start();
    if (server.status().code() == StatusCode::kNotFound) {
      std::cerr << "SKIPPED: " << server.status() << "\n";
      GTEST_SKIP() << "SKIPPED: no mariadbd";
    }
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    ASSERT_EQ(mysql_library_init(0, nullptr, nullptr), 0);
  }

  // Returns null if the connection is refused.
  Connection Connect(unsigned read_timeout_s = 0) const {
    Connection connection(mysql_init(nullptr), &mysql_close);
    if (read_timeout_s > 0) {
      mysql_options(connection.get(), MYSQL_OPT_READ_TIMEOUT, &read_timeout_s);
    }
    if (mysql_real_connect(connection.get(), "127.0.0.1", "test", nullptr, nullptr, server_->port(),
                           nullptr, 0) == nullptr) {
      ADD_FAILURE() << mysql_error(connection.get());
      connection.reset();
    }
    return connection;
  }

  static std::string Ask(const Connection& connection, const std::string& query) {
    if (mysql_real_query(connection.get(), query.data(), query.size()) != 0) {
      return mysql_error(connection.get());
    }
    const Result result(mysql_store_result(connection.get()), &mysql_free_result);
    if (result == nullptr) return mysql_error(connection.get());
    return mysql_fetch_row(result.get())[0];
  }

  void UseAsClient(int client, int query_count) {
    const Connection connection = Connect();
    ASSERT_NE(connection, nullptr);
    for (int i = 0; i < query_count; ++i) {
      ASSERT_EQ(Ask(connection, StrCat("SELECT CONCAT('value-', ", client, ", '-', ", i, ")")),
                StrCat("value-", client, "-", i));
      ++answered_count_;
    }
  }

  std::unique_ptr<MariadbServer> server_;
  std::atomic<int> answered_count_{0};
};

TEST_F(MariadbTest, ManyBlockingClientsOnTwoKernelThreads) {
  UserThreads threads(2);
  constexpr int kClientCount = 100;
  constexpr int kQueryCount = 20;
  for (int client = 0; client < kClientCount; ++client) {
    threads.Start(client % 2, [this, client] { UseAsClient(client, kQueryCount); });
  }
  threads.Wait();
  EXPECT_EQ(answered_count_, kClientCount * kQueryCount);
}

TEST_F(MariadbTest, ASlowQueryDelaysNoOtherOnItsKernelThread) {
  UserThreads threads;
  std::vector<std::string> finished;
  threads.Run({[&] {
                 EXPECT_EQ(Ask(Connect(), "SELECT SLEEP(0.3)"), "0");
                 finished.push_back("slow");
               },
               [&] {
                 EXPECT_EQ(Ask(Connect(), "SELECT 1"), "1");
                 finished.push_back("fast");
               }});
  EXPECT_EQ(finished, (std::vector<std::string>{"fast", "slow"}));
}

TEST_F(MariadbTest, UnrelatedHandlersRunWhileTheServerHangs) {
  UserThreads threads;
  constexpr int kClientCount = 50;
  server_->Signal(SIGSTOP);
  std::vector<std::function<void()>> bodies;
  for (int client = 0; client < kClientCount; ++client) {
    bodies.push_back([this, client] { UseAsClient(client, 3); });
  }
  // Runs more often than once per ready thread; if a client blocked the kernel thread, this would
  // not end.
  bodies.push_back([&] {
    for (int i = 0; i < 1000; ++i) this_thread::Yield();
    EXPECT_EQ(answered_count_, 0);
    server_->Signal(SIGCONT);
  });
  threads.Run(std::move(bodies));
  EXPECT_EQ(answered_count_, kClientCount * 3);
}

TEST_F(MariadbTest, ClientTimeoutsAreObserved) {
  UserThreads threads;
  threads.Run({[&] {
    const Connection connection = Connect(1);
    ASSERT_NE(connection, nullptr);
    server_->Signal(SIGSTOP);
    EXPECT_NE(mysql_query(connection.get(), "SELECT 1"), 0);
    EXPECT_EQ(mysql_errno(connection.get()), CR_SERVER_LOST);
    server_->Signal(SIGCONT);
    EXPECT_EQ(Ask(Connect(10), "SELECT 2"), "2");
  }});
}

}  // namespace
}  // namespace neptune
