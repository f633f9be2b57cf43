// Tests the statistics of a collection whose documents change, over all partitions of both tiers:
// once they are renewed, the cluster answers like one index built from the live documents.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"
#include "index/tier/registry.h"
#include "neptune/base/strings.h"
#include "tests/search_cluster/search_cluster.h"
#include "tests/search_cluster/small_index.h"

namespace search::tests {
namespace {

using frontend::SearchAnswer;
using index::TestDocument;
using neptune::HttpResponse;
using neptune::StatusOr;
using neptune::StrCat;
using nlohmann::json;
using std::chrono::seconds;

constexpr uint64_t kSeed = 7;
// Limit for one renewal: a pause, the time of a check, and slack.
constexpr neptune::Duration kRenewalGoal = seconds(15);

// Each partition has a copy of its log on a third node, so that any one node may fail.
neptune::ClusterSpec RenewingSpec(const std::string& folder, const char* changed_share) {
  neptune::ClusterSpec spec = LiveSpec(folder);
  for (auto& service : *spec.mutable_services()) {
    if (service.has_replication()) service.mutable_replication()->set_witness("web-1");
  }
  SetParameter(&spec, "tier1", "tier1_partitions", "4");
  SetParameter(&spec, "tier1", "tier2_partitions", "4");
  SetParameter(&spec, "tier1", "statistics_changed_share", changed_share);
  SetParameter(&spec, "frontend", "tier2_policy", "always");
  return spec;
}

class StatisticsRenewalTest : public testing::Test {
 protected:
  StatisticsRenewalTest() : corpus_(MakeSmallCorpus(5)), random_(kSeed) {
    const neptune::Status built = BuildSmallIndex(folder_.path(), corpus_, Placement(corpus_, {}));
    EXPECT_TRUE(built.ok()) << built;
    for (const TestDocument& document : corpus_.documents) living_[document.doc_id] = document;
  }

  void Start(const char* changed_share) {
    cluster_ = std::make_unique<SearchCluster>(1, RenewingSpec(folder_.path(), changed_share),
                                               folder_.path());
    cluster_->simulator().RunFor(seconds(2));
  }

  const TestDocument& AnyDocument() {
    return corpus_.documents[random_() % corpus_.documents.size()];
  }

  // Adds a document or changes an existing one, with words that no document had before.
  void PostOne(uint64_t doc_id) {
    TestDocument document = AnyDocument();
    document.doc_id = doc_id;
    document.body += StrCat(" novel", random_() % 5);
    document.extra_text.clear();
    document.static_rank = static_cast<float>(random_() % 4) / 4;
    document.site = "changed";
    const json body = {{"url", StrCat("http://changed/", doc_id)},
                       {"id", StrCat(doc_id)},
                       {"title", document.title},
                       {"text", document.body},
                       {"site", document.site},
                       {"static_rank", document.static_rank}};
    Send({.method = "POST",
          .target = "/documents",
          .headers = {{"Content-Type", "application/json"}},
          .body = body.dump()});
    living_[doc_id] = document;
  }
  void Change(int count) {
    for (int i = 0; i < count; ++i) {
      const uint64_t doc_id = AnyDocument().doc_id;
      if (i % 3 == 0) {
        Send({.method = "DELETE", .target = StrCat("/documents/", doc_id)});
        living_.erase(doc_id);
      } else {
        PostOne(i % 3 == 1 ? doc_id : 1'000'000 + random_() % 1000);
      }
    }
  }
  void Send(const tools::HttpExchange& exchange) {
    const StatusOr<HttpResponse> response = cluster_->Send("web-2", exchange);
    ASSERT_TRUE(response.ok()) << response.status();
    ASSERT_EQ(response->status, 200) << response->body;
  }

  // Builds the live documents as one partition.
  std::unique_ptr<index::IndexTier> BuildOne() {
    const std::string folder = StrCat(folder_.path(), "/one.", built_count_++);
    const auto builder = index::CreateTierBuilder("segment", {.directory = folder});
    for (const auto& [doc_id, document] : living_) {
      EXPECT_TRUE((*builder)->Add(document.View()).ok());
    }
    EXPECT_TRUE((*builder)->Finish().ok());
    EXPECT_TRUE(index::FinishTierCollection("segment", {folder}, {}).ok());
    return *index::OpenIndexTier("segment", folder);
  }

  // Number of queries with a different answer from the cluster: document, order, score or total.
  int CountDifferent() {
    const auto one = BuildOne();
    int different = 0;
    std::vector<std::string> queries = {"novel0", "novel1 novel2", "novel3 OR the"};
    for (int i = 0; i < 25; ++i) {
      queries.push_back(index::RandomQuery(corpus_.documents, [this] { return random_(); }));
    }
    for (const std::string& query : queries) {
      if (!IsAnsweredAs(*one, query)) ++different;
    }
    return different;
  }

  bool IsAnsweredAs(const index::IndexTier& one, const std::string& query) {
    const StatusOr<SearchAnswer> answer = cluster_->Search({.query = query});
    EXPECT_TRUE(answer.ok()) << query << ": " << answer.status();
    if (!answer.ok()) return false;
    EXPECT_TRUE(answer->coverage.complete()) << query;
    const auto parsed = index::ParseQuestion(query);
    if (parsed->empty()) return true;
    index::TierQuery question;
    question.set_query(index::Canonical(*parsed));
    question.set_hit_count_max(10);
    question.set_count_exactly(true);
    question.set_second_phase_count(50);
    const index::TierAnswer want = one.Search(question, {}).value();
    const size_t count = std::min<size_t>(10, static_cast<size_t>(want.hits_size()));
    if (answer->results.size() != count || answer->total != want.total()) return false;
    for (size_t i = 0; i < count; ++i) {
      const index::TierHit& hit = want.hits(static_cast<int>(i));
      if (answer->results[i].doc_id != StrCat(hit.doc_id())) return false;
      if (static_cast<float>(answer->results[i].score) != hit.score() + hit.gain()) return false;
    }
    return true;
  }

  index::TemporaryFolder folder_;
  SmallCorpus corpus_;
  std::mt19937_64 random_;
  std::map<uint64_t, TestDocument> living_;
  std::unique_ptr<SearchCluster> cluster_;
  int built_count_ = 0;
};

// Before the renewal new words score too high and counts are outdated; the comparison must notice.
TEST_F(StatisticsRenewalTest, PartitionsDifferFromOneIndexBeforeRenewal) {
  Start("1");
  Change(30);
  cluster_->simulator().RunFor(kRenewalGoal);
  EXPECT_GT(CountDifferent(), 0);
}

TEST_F(StatisticsRenewalTest, PartitionsAnswerAsOneIndexOnceRenewedAlsoByTheNextLeader) {
  Start("0.01");
  EXPECT_EQ(CountDifferent(), 0);
  Change(30);
  cluster_->simulator().RunFor(kRenewalGoal);
  EXPECT_EQ(CountDifferent(), 0);

  cluster_->Kill("store-1");  // the leader
  cluster_->simulator().RunFor(seconds(5));
  Change(30);
  cluster_->simulator().RunFor(2 * kRenewalGoal);
  EXPECT_EQ(CountDifferent(), 0);
  cluster_->Restart("store-1");
  cluster_->simulator().RunFor(seconds(10));
  EXPECT_EQ(CountDifferent(), 0);
}

// A renewal that was interrupted by any crash is completed later.
TEST_F(StatisticsRenewalTest, AnInterruptedRenewalIsCompleted) {
  Start("0.01");
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    Change(12);
    const auto until = std::chrono::milliseconds(5'000 + random_() % 2'000);
    cluster_->simulator().RunFor(until);
    const std::string victim = StrCat("store-", 1 + random_() % 4);
    cluster_->Kill(victim);
    cluster_->simulator().RunFor(seconds(3));
    cluster_->Restart(victim);
    cluster_->simulator().RunFor(seconds(10));
  }
  cluster_->simulator().RunFor(3 * kRenewalGoal);
  EXPECT_EQ(CountDifferent(), 0);
}

}  // namespace
}  // namespace search::tests
