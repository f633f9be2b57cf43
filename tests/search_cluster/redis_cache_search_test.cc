// Tests a search with its cache in a real Redis (data/clusters/redis_cache.textproto), which may
// hang, be flushed and restart.

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tests/clients/redis_server.h"
#include "tests/search_cluster/built_index.h"
#include "tests/search_cluster/search_cluster.h"

namespace search::tests {
namespace {

using frontend::CacheUse;
using frontend::SearchAnswer;
using neptune::RedisServer;
using neptune::StrCat;
using std::chrono::seconds;

const std::vector<std::string> kQueries = {"mutex semaphore", "posting list", "w7 -w9",
                                           "license",         "w1 OR w2",     "index"};

class RedisCacheSearchTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = RedisServer::Start();
    ASSERT_TRUE(started.ok()) << started.status();
    redis_ = *std::move(started);
    neptune::ClusterSpec spec = SpecOf("redis_cache");
    SetParameter(&spec, "cache", "server", StrCat("127.0.0.1:", redis_->port()));
    // Pages that the frontends repeat would hide what Redis does.
    SetParameter(&spec, "frontend", "page_cache_mb", "0");
    cluster_ = std::make_unique<SearchCluster>(1, spec, index_.folder.path());
    Pass(seconds(2));
  }
  void TearDown() override {
    if (redis_ != nullptr) redis_->Signal(SIGCONT);
  }

  // Number of queries answered from the cache. No query may fail or miss more than its answer says.
  size_t Hits(const std::vector<std::string>& queries) {
    size_t hit_count = 0;
    for (const std::string& query : queries) {
      const auto answer = cluster_->Search({.query = query, .may_use_cache = true});
      if (!answer.ok()) {
        ADD_FAILURE() << query << ": " << answer.status();
        continue;
      }
      EXPECT_EQ(index_.oracle->Check(*answer), "") << query;
      if (answer->coverage.cache.outcome != CacheUse::Outcome::kHit) continue;
      EXPECT_EQ(answer->coverage.cache.implementation, "redis");
      ++hit_count;
    }
    return hit_count;
  }
  // Afterwards both frontends know the index version, and the cache has the queries' answers.
  void Fill() {
    for (int i = 0; i < 2; ++i) {
      Hits(kQueries);
      Hits({kQueries.front()});  // the other frontend is next
      Pass(seconds(1));
    }
  }
  void Pass(neptune::Duration time) { cluster_->simulator().RunFor(time); }

  const BuiltIndex index_;
  std::unique_ptr<RedisServer> redis_;
  std::unique_ptr<SearchCluster> cluster_;
};

TEST_F(RedisCacheSearchTest, AnAnswerOutlivesAllProcessesOfTheCluster) {
  Fill();
  EXPECT_EQ(Hits(kQueries), kQueries.size());
  for (const std::string& node : cluster_->node_names()) cluster_->simulator().Crash(node);
  Pass(seconds(1));
  for (const std::string& node : cluster_->node_names()) cluster_->Restart(node);
  Pass(seconds(5));
  for (const char* const web : {"web-1", "web-2"}) (void)cluster_->Get(web, "/readyz");
  Hits({"w20", "w21"});  // a frontend learns the index version from its first answer
  EXPECT_EQ(Hits(kQueries), kQueries.size());
}

TEST_F(RedisCacheSearchTest, AHungRedisCostsHitsButNoQuery) {
  Fill();
  redis_->Signal(SIGSTOP);
  EXPECT_EQ(Hits(kQueries), 0u);
  redis_->Signal(SIGCONT);
  Pass(seconds(30));  // partitions of the cache that kept failing are asked again
  Fill();
  EXPECT_EQ(Hits(kQueries), kQueries.size());
}

TEST_F(RedisCacheSearchTest, WithoutRedisEveryQueryIsAnswered) {
  Fill();
  redis_.reset();
  EXPECT_EQ(Hits(kQueries), 0u);
}

}  // namespace
}  // namespace search::tests
