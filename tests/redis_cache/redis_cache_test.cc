// The query cache over a real Redis: the conformance suite, and what Redis does that a cache in
// memory does not.

#include "cache/redis/redis_cache.h"

#include <glog/logging.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <signal.h>

#include <memory>
#include <string>
#include <utility>

#include "cache/result_cache_conformance.h"
#include "neptune/base/strings.h"
#include "tests/clients/redis_server.h"
#include "tests/redis_cache/scripted_server.h"

namespace search::cache {
namespace {

using neptune::RedisServer;
using neptune::StatusCode;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::hours;
using std::chrono::milliseconds;

constexpr TimePoint kNow{milliseconds(1000)};

// One for all tests, made by the first. Its absence fails them: the tests' packages have it.
RedisServer& Server() {
  static RedisServer* const server = [] {
    auto started = RedisServer::Start();
    CHECK(started.ok()) << started.status();
    return started->release();
  }();
  return *server;
}

// Keys of its own for every cache.
ResultCacheOptions WithServer(ResultCacheOptions options) {
  static int count = 0;
  options.server = StrCat("127.0.0.1:", Server().port());
  options.key_prefix = StrCat("test", count++);
  options.server_timeout = std::chrono::seconds(10);  // of a machine that is busy
  return options;
}

neptune::StatusOr<std::unique_ptr<ResultCache>> MakeWithServer(const ResultCacheOptions& options) {
  return MakeRedisCache(WithServer(options));
}

INSTANTIATE_TEST_SUITE_P(Redis, ResultCacheConformance,
                         testing::Values(ResultCacheVariant{kRedisCacheName, &MakeWithServer,
                                                            true}),
                         VariantName);

// What Redis says to words of a user.
std::string Ask(const std::string& command) {
  const std::unique_ptr<redisContext, decltype(&redisFree)> connection(
      redisConnect("127.0.0.1", Server().port()), &redisFree);
  const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
      static_cast<redisReply*>(redisCommand(connection.get(), command.c_str())), &freeReplyObject);
  if (reply == nullptr) return connection->errstr;
  if (reply->type == REDIS_REPLY_INTEGER) return StrCat(reply->integer);
  return reply->str == nullptr ? "" : std::string(reply->str, reply->len);
}

class RedisCacheTest : public testing::Test {
 protected:
  std::unique_ptr<ResultCache> Make() {
    auto cache = MakeRedisCache(options_);
    EXPECT_TRUE(cache.ok()) << cache.status();
    return *std::move(cache);
  }
  // The value, or "error", or "-".
  static std::string Find(ResultCache& cache, const std::string& query, TimePoint now = kNow) {
    const auto found = cache.Lookup({query, 1}, now);
    if (!found.ok()) return "error";
    return found->has_value() ? *(*found)->value : "-";
  }
  static neptune::Status Store(ResultCache& cache, const std::string& query, std::string value,
                               neptune::Duration life = {}, TimePoint now = kNow) {
    return cache.Insert({query, 1}, {std::move(value), life}, now).status();
  }
  std::string Key(const std::string& query) const {
    return StrCat(options_.key_prefix, ":v:", query);
  }

  ResultCacheOptions options_ = WithServer({});
};

TEST_F(RedisCacheTest, AServerThatHangsIsAnErrorAndNoLateAnswerIsTakenForAnother) {
  const auto cache = Make();
  ASSERT_TRUE(Store(*cache, "apple", "red").ok());
  ASSERT_TRUE(Store(*cache, "pear", "green").ok());
  EXPECT_EQ(Find(*cache, "apple"), "red");
  options_.server_timeout = milliseconds(20);
  const auto hasty = Make();
  Server().Signal(SIGSTOP);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(hasty->Lookup({"apple", 1}, kNow).status().code(), StatusCode::kUnavailable);
    EXPECT_EQ(Store(*hasty, "fig", "blue").code(), StatusCode::kUnavailable);
  }
  Server().Signal(SIGCONT);
  // It answers now what it was asked meanwhile, on connections that are closed.
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Find(*cache, "pear"), "green");
    EXPECT_EQ(Find(*cache, "apple"), "red");
  }
}

TEST_F(RedisCacheTest, RedisLetsGoByItselfWhatHasOutlivedItsTime) {
  const auto cache = Make();
  ASSERT_TRUE(Store(*cache, "apple", "red", hours(1)).ok());
  const int64_t left_ms = std::stoll(Ask("PTTL " + Key("apple")));
  EXPECT_GT(left_ms, 0);
  EXPECT_LE(left_ms, 3'600'000);
  EXPECT_EQ(Find(*cache, "apple", kNow + hours(1)), "-");
  Ask("PEXPIRE " + Key("apple") + " 0");
  EXPECT_EQ(Find(*cache, "apple"), "-");
  EXPECT_EQ(cache->Stats().expiration_count, 1u);
}

TEST_F(RedisCacheTest, ReplicasShareWhatIsThereAndAnEntryOfAnotherProcessAgesByRedissClock) {
  const auto one = Make();
  options_.hash_seed = 77;  // another process's, whose clock says something else
  const auto other = Make();
  ASSERT_TRUE(Store(*one, "apple", "red", hours(2), kNow + hours(1000)).ok());
  Ask("PEXPIRE " + Key("apple") + " 3600000");
  const auto found = other->Lookup({"apple", 1}, kNow);
  ASSERT_TRUE(found.ok() && found->has_value()) << found.status();
  EXPECT_GE((*found)->age, hours(1));
  EXPECT_LT((*found)->age, hours(2));
  ASSERT_TRUE(Store(*other, "apple", "green").ok());
  EXPECT_EQ(Find(*one, "apple"), "green");
}

TEST_F(RedisCacheTest, ReplicasKeepTheBoundTogether) {
  options_.size_max = 64u << 10;
  const auto one = Make();
  const auto other = Make();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(Store(i % 2 == 0 ? *one : *other, StrCat("q", i), std::string(1000, 'x')).ok());
    EXPECT_LE((i % 2 == 0 ? one : other)->Stats().size, options_.size_max);
  }
  EXPECT_EQ(one->Stats().eviction_count + other->Stats().eviction_count,
            200 - other->Stats().entry_count);
  EXPECT_EQ(Find(*one, "q199"), std::string(1000, 'x'));
  EXPECT_EQ(Find(*one, "q0"), "-");
}

TEST_F(RedisCacheTest, WhatAnotherProgramWroteUnderAKeyIsNoValueAndIsReplaced) {
  const auto cache = Make();
  for (const std::string& command :
       {"SET " + Key("apple") + " red", "LPUSH " + Key("apple") + " red",
        "SET " + Key("apple") + " " + std::string(1000, 'x') + " PX 100000"}) {
    Ask("DEL " + Key("apple"));
    Ask(command);
    const auto found = cache->Lookup({"apple", 1}, kNow);
    EXPECT_FALSE(found.ok() && found->has_value()) << command;
  }
  EXPECT_EQ(cache->Lookup({"apple", 1}, kNow).status().code(), StatusCode::kDataLoss);
  ASSERT_TRUE(Store(*cache, "apple", "green").ok());
  EXPECT_EQ(Find(*cache, "apple"), "green");
}

TEST_F(RedisCacheTest, AFullRedisRefusesInsertsAndChangesNothing) {
  const auto cache = Make();
  ASSERT_TRUE(Store(*cache, "apple", "red").ok());
  const ResultCacheStats before = cache->Stats();
  Ask("CONFIG SET maxmemory 1");
  const auto refused = Store(*cache, "pear", "green");
  EXPECT_EQ(Find(*cache, "apple"), "red");
  EXPECT_EQ(Find(*cache, "pear"), "-");
  Ask("CONFIG SET maxmemory 0");
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_NE(neptune::ToStd(refused.message()).find("OOM"), std::string::npos) << refused;
  ASSERT_TRUE(Store(*cache, "apple", "red").ok());
  EXPECT_EQ(cache->Stats().size, before.size);
  EXPECT_EQ(cache->Stats().entry_count, 1u);
}

TEST_F(RedisCacheTest, AnEmptiedRedisIsAnEmptyCache) {
  const auto cache = Make();
  ASSERT_TRUE(Store(*cache, "apple", "red").ok());
  Ask("FLUSHALL");
  EXPECT_EQ(Find(*cache, "apple"), "-");
  ASSERT_TRUE(Store(*cache, "pear", "green").ok());
  EXPECT_EQ(cache->Stats().entry_count, 1u);
}

TEST_F(RedisCacheTest, ANewEpochOfTheIndexFindsNothingOfTheOld) {
  const auto cache = Make();
  ASSERT_TRUE(Store(*cache, "apple", "red").ok());
  const auto found = cache->Lookup({"apple", 2}, kNow);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->has_value());
}

// Whatever a server answers is an error or a miss, never a value, and the next request goes to the
// server again.
TEST_F(RedisCacheTest, LogsInAsTheServerDemands) {
  ASSERT_EQ(Ask("ACL SETUSER locked on >a-password-of-a-test ~* +@all"), "OK");
  options_.server_user = "locked";
  options_.server_password = "a-password-of-a-test";
  const auto cache = Make();
  ASSERT_TRUE(Store(*cache, "apple", "red").ok());
  EXPECT_EQ(Find(*cache, "apple"), "red");
  options_.server_password = "another-password";
  const neptune::Status refused = Store(*Make(), "apple", "green");
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_EQ(refused.message().find("another-password"), absl::string_view::npos) << refused;
  EXPECT_EQ(Find(*cache, "apple"), "red");
}

TEST_F(RedisCacheTest, OnlyThoseWithTheSecretChooseAnswers) {
  const auto stranger = Make();
  options_.seal_secrets = {std::string(32, 's')};
  const auto one = Make();
  options_.seal_secrets = {std::string(32, 'n'), std::string(32, 's')};
  const auto changing = Make();
  ASSERT_TRUE(Store(*one, "apple", "red").ok());
  EXPECT_EQ(Find(*one, "apple"), "red");
  EXPECT_EQ(Find(*changing, "apple"), "red");
  ASSERT_TRUE(Store(*stranger, "apple", "poison").ok());
  EXPECT_EQ(Find(*one, "apple"), "error");
  ASSERT_TRUE(Store(*one, "apple", "red").ok()) << "it is replaced";
  ASSERT_TRUE(Store(*one, "pear", "green").ok());
  Ask(StrCat("COPY ", Key("pear"), " ", Key("apple"), " REPLACE"));
  EXPECT_EQ(Find(*one, "apple"), "error");
}

TEST(RedisCacheAgainstOtherServersTest, BadAnswersAreErrors) {
  const std::string answers[] = {"",
                                 "HTTP/1.1 400 Bad Request\r\n\r\n",
                                 "$-5\r\n",
                                 "$99999999999999999999\r\n",
                                 "*2147483647\r\n",
                                 "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
                                 ":1\r\n:1\r\n",
                                 "$3\r\nred\r\n:5\r\n",
                                 "$3\r\nred",
                                 "$3\r\nredXX:5\r\n",
                                 "+OK\r\n+OK\r\n",
                                 "-LOADING Redis is loading\r\n-LOADING\r\n",
                                 "*3\r\n:0\r\n:-1\r\n:0\r\n*3\r\n",
                                 "*2\r\n:0\r\n:0\r\n",
                                 "*3\r\n:0\r\n$1\r\na\r\n:0\r\n",
                                 std::string(100000, '*')};
  for (const std::string& answer : answers) {
    SCOPED_TRACE(answer.substr(0, 40));
    ScriptedServer server(answer);
    const auto cache = MakeRedisCache({.server = StrCat("127.0.0.1:", server.port()),
                                       .server_timeout = std::chrono::seconds(10)});
    ASSERT_TRUE(cache.ok()) << cache.status();
    const auto found = (*cache)->Lookup({"apple", 1}, kNow);
    EXPECT_FALSE(found.ok() && found->has_value()) << answer;
    EXPECT_FALSE((*cache)->Insert({"apple", 1}, {"red", {}}, kNow).ok()) << answer;
    EXPECT_FALSE((*cache)->Clear().ok()) << answer;
  }
}

TEST(RedisCacheAgainstOtherServersTest, NoServerIsAnError) {
  uint16_t port = 0;
  { port = ScriptedServer("").port(); }
  const auto cache = MakeRedisCache({.server = StrCat("127.0.0.1:", port)});
  EXPECT_EQ((*cache)->Lookup({"apple", 1}, kNow).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace search::cache
