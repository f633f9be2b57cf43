// Tests a search with a replicated cache that outlives its processes
// (data/clusters/persistent_cache.textproto): which entries remain after the loss of nodes or of
// all nodes, and that no answer belongs to a replaced index.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "index/core/testing/collection.h"
#include "neptune/base/strings.h"
#include "tests/search_cluster/built_index.h"
#include "tests/search_cluster/search_cluster.h"

namespace search::tests {
namespace {

using frontend::CacheUse;
using frontend::SearchAnswer;
using neptune::StatusOr;
using neptune::StrCat;
using std::chrono::seconds;

const std::vector<std::string> kQueries = {"mutex semaphore", "posting list", "w7 -w9", "license",
                                           "w1 OR w2",        "index",        "w3",     "w4 w5"};
const std::vector<std::string> kOtherQueries = {"thread", "w11", "w12 OR w13", "cache"};

class PersistentCacheSearchTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory_symlink(index_.folder.path(), link_); }
  void TearDown() override { std::filesystem::remove(link_); }

  // Number of queries answered from the cache. No query may fail or miss more than its answer says.
  size_t Hits(const std::vector<std::string>& queries, const AnswerOracle& oracle) {
    size_t hit_count = 0;
    for (const std::string& query : queries) {
      const StatusOr<SearchAnswer> answer =
          cluster().Search({.query = query, .may_use_cache = true});
      if (!answer.ok()) {
        ADD_FAILURE() << query << ": " << answer.status();
        continue;
      }
      EXPECT_EQ(oracle.Check(*answer), "") << query;
      if (answer->coverage.cache.outcome != CacheUse::Outcome::kHit) continue;
      EXPECT_EQ(answer->coverage.cache.implementation, "persistent");
      ++hit_count;
    }
    return hit_count;
  }
  size_t Hits(const std::vector<std::string>& queries) { return Hits(queries, *index_.oracle); }
  // Afterwards both frontends know the index version, and the cache has the queries' answers.
  void Fill(const std::vector<std::string>& queries) {
    for (int i = 0; i < 2; ++i) {
      Hits(queries);
      Hits({queries.front()});  // the other frontend is next
      Pass(seconds(1));
    }
  }
  // Number of cache inserts with this outcome by the metrics of the frontends.
  double InsertCount(const std::string& outcome) {
    double count = 0;
    for (const char* const web : {"web-1", "web-2"}) {
      std::istringstream metrics(cluster().Get(web, "/metrics")->body);
      for (std::string line; std::getline(metrics, line);) {
        if (line.starts_with("search_cache_inserts_total{") &&
            line.find(StrCat("\"", outcome, "\"")) != std::string::npos) {
          count += std::stod(line.substr(line.rfind(' ')));
        }
      }
    }
    return count;
  }
  void Pass(neptune::Duration time) { cluster().simulator().RunFor(time); }
  void StopAll() {
    for (const std::string& node : cluster().node_names()) cluster().simulator().Crash(node);
    Pass(seconds(1));
  }
  void StartAll() {
    for (const std::string& node : cluster().node_names()) cluster().Restart(node);
    Pass(seconds(5));
    // The user notices that its connections to the previous processes are lost.
    for (const char* const web : {"web-1", "web-2"}) (void)cluster().Get(web, "/readyz");
  }
  SearchCluster& cluster() {
    if (cluster_ == nullptr) {
      cluster_ = std::make_unique<SearchCluster>(1, SpecOf("persistent_cache"), link_);
      Pass(seconds(2));
    }
    return *cluster_;
  }

  const BuiltIndex index_;
  const index::TemporaryFolder links_;
  const std::string link_ = StrCat(links_.path(), "/index");
  std::unique_ptr<SearchCluster> cluster_;
};

TEST_F(PersistentCacheSearchTest, TheLossOfAPrimaryFailsNoQueryAndLosesNoAnswer) {
  Fill(kQueries);
  EXPECT_EQ(Hits(kQueries), kQueries.size());
  EXPECT_GE(InsertCount("stored"), static_cast<double>(kQueries.size()));
  EXPECT_EQ(InsertCount("failed"), 0) << "inserts go to the primary at once";
  cluster().Kill("store-1");
  Hits(kQueries);
  Pass(seconds(6));
  EXPECT_EQ(Hits(kQueries), kQueries.size()) << "the other replica has the entries";
  Fill(kOtherQueries);
  EXPECT_EQ(Hits(kOtherQueries), kOtherQueries.size()) << "another primary accepts inserts";
  cluster().Restart("store-1");
  Pass(seconds(6));
  cluster().Kill("store-2");
  Hits(kQueries);
  Pass(seconds(6));
  EXPECT_EQ(Hits(kQueries), kQueries.size());
  EXPECT_EQ(Hits(kOtherQueries), kOtherQueries.size())
      << "entries inserted while the node was down";
}

TEST_F(PersistentCacheSearchTest, AnAnswerOutlivesAllProcesses) {
  Fill(kQueries);
  StopAll();
  StartAll();
  // A frontend learns the index version from its first answer.
  EXPECT_EQ(Hits({"w20", "w21"}), 0u);
  EXPECT_EQ(Hits(kQueries), kQueries.size());
}

TEST_F(PersistentCacheSearchTest, NoAnswerBelongsToAReplacedIndex) {
  Fill(kQueries);
  EXPECT_EQ(Hits(kQueries), kQueries.size());
  StopAll();
  const BuiltIndex newer({.corpus_seed = 6});
  std::filesystem::remove(link_);
  std::filesystem::create_directory_symlink(newer.folder.path(), link_);
  StartAll();
  EXPECT_EQ(Hits(kQueries, *newer.oracle), 0u);
  Pass(seconds(1));
  EXPECT_EQ(Hits(kQueries, *newer.oracle), kQueries.size());
  EXPECT_EQ(newer.oracle->Check(*cluster().Search({.query = kQueries[0]})), "");
}

TEST_F(PersistentCacheSearchTest, WithoutAMajorityEntriesAreFoundButNotInserted) {
  Fill(kQueries);
  cluster().Kill("store-1");
  cluster().Kill("web-1");
  Pass(seconds(6));
  EXPECT_EQ(Hits(kQueries), kQueries.size());
  Hits(kOtherQueries);
  Pass(seconds(1));
  EXPECT_EQ(Hits(kOtherQueries), 0u);
  cluster().Restart("store-1");
  Pass(seconds(6));
  Fill(kOtherQueries);
  EXPECT_EQ(Hits(kOtherQueries), kOtherQueries.size());
}

}  // namespace
}  // namespace search::tests
