// Tests changes of documents through the frontends of a whole search cluster with both tiers, two
// replicas of every partition and the query cache, in the simulated world.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "index/core/testing/collection.h"
#include "index/updates/document_change.h"
#include "neptune/base/strings.h"
#include "tests/search_cluster/search_cluster.h"
#include "tests/search_cluster/small_index.h"

namespace search::tests {
namespace {

using frontend::SearchAnswer;
using neptune::HttpResponse;
using neptune::StatusOr;
using neptune::StrCat;
using nlohmann::json;

constexpr neptune::Duration kFindableGoal = std::chrono::seconds(2);
constexpr const char* kFrontends[] = {"web-1", "web-2"};

class DocumentUpdatesTest : public testing::Test {
 protected:
  DocumentUpdatesTest() : corpus_(MakeSmallCorpus(5)), placement_(corpus_, {}) {
    const neptune::Status built = BuildSmallIndex(folder_.path(), corpus_, placement_);
    EXPECT_TRUE(built.ok()) << built;
    neptune::ClusterSpec spec = LiveSpec(folder_.path());
    SetParameter(&spec, "frontend", "audit_log", "audit.log");
    cluster_ = std::make_unique<SearchCluster>(1, spec, folder_.path());
    // Waits until every partition has elected its primary.
    cluster_->simulator().RunFor(std::chrono::seconds(2));
  }

  HttpResponse Send(const tools::HttpExchange& exchange) {
    const char* const web = kFrontends[send_count_++ % 2];
    const StatusOr<HttpResponse> response = cluster_->Send(web, exchange);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? *response : HttpResponse();
  }
  HttpResponse Post(const std::string& body, const std::string& type = "application/json") {
    return Send({.method = "POST",
                 .target = "/documents",
                 .headers = {{"Content-Type", type}},
                 .body = body});
  }
  HttpResponse Delete(const std::string& id) {
    return Send({.method = "DELETE", .target = "/documents/" + id});
  }
  void AwaitGoal() { cluster_->simulator().RunFor(kFindableGoal); }

  // Titles found by each frontend, which must agree, cache included.
  std::set<std::string> TitlesOf(const std::string& query) {
    std::set<std::string> titles;
    for (int i = 0; i < 2; ++i) {
      const StatusOr<SearchAnswer> answer =
          cluster_->Search({.query = query, .may_use_cache = true});
      EXPECT_TRUE(answer.ok()) << answer.status();
      if (!answer.ok()) continue;
      EXPECT_TRUE(answer->coverage.complete()) << query;
      std::set<std::string> found;
      for (const auto& result : answer->results) found.insert(result.title);
      if (i > 0) {
        EXPECT_EQ(found, titles) << query;
      }
      titles = std::move(found);
    }
    return titles;
  }

  std::string UrlOf(uint64_t doc_id) const {
    for (size_t i = 0; i < corpus_.documents.size(); ++i) {
      if (corpus_.documents[i].doc_id == doc_id) return corpus_.urls[i];
    }
    return {};
  }

  uint64_t DocumentOfTier(bool tier1) const {
    for (const auto& document : corpus_.documents) {
      if (placement_.in_tier1(document.doc_id) == tier1) return document.doc_id;
    }
    ADD_FAILURE() << "no document";
    return 0;
  }

  index::TemporaryFolder folder_;
  SmallCorpus corpus_;
  Placement placement_;
  std::unique_ptr<SearchCluster> cluster_;
  size_t send_count_ = 0;
};

using Titles = std::set<std::string>;

std::string DocumentText(const std::string& url, const std::string& title) {
  return json{{"url", url}, {"title", title}, {"text", "quixotic zephyr"}}.dump();
}

TEST_F(DocumentUpdatesTest, ACachedPageShowsANewDocumentWithinTwoSeconds) {
  EXPECT_EQ(TitlesOf("quixotic"), Titles{});
  for (int i = 0; i < 2; ++i) {
    const StatusOr<SearchAnswer> answer =
        cluster_->Search({.query = "quixotic", .may_use_cache = true});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->coverage.cache.outcome, frontend::CacheUse::Outcome::kHit);
  }
  EXPECT_EQ(Post(DocumentText("http://a/", "first")).status, 200);
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), Titles{"first"});
}

TEST_F(DocumentUpdatesTest, PostingAUrlAgainReplacesTheDocument) {
  const HttpResponse first = Post(DocumentText("http://a/", "first"));
  const HttpResponse again = Post(DocumentText("http://a/", "first"));
  EXPECT_EQ(first.body, again.body);
  const HttpResponse second = Post(DocumentText("http://a/", "second"));
  EXPECT_EQ(first.body, second.body);
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), Titles{"second"});
}

TEST_F(DocumentUpdatesTest, APublishedDocumentIsReplacedAndRemovedByItsUrl) {
  for (const bool in_tier1 : {true, false}) {
    SCOPED_TRACE(in_tier1);
    const uint64_t doc_id = DocumentOfTier(in_tier1);
    const std::string url = UrlOf(doc_id);
    const HttpResponse posted = Post(DocumentText(url, "newer"));
    ASSERT_EQ(posted.status, 200) << posted.body;
    EXPECT_EQ(json::parse(posted.body)["id"], StrCat(doc_id));
    AwaitGoal();
    EXPECT_EQ(TitlesOf("quixotic"), Titles{"newer"});
    const HttpResponse deleted = Send({.method = "DELETE", .target = "/documents?url=" + url});
    ASSERT_EQ(deleted.status, 200) << deleted.body;
    EXPECT_EQ(json::parse(deleted.body)["id"], StrCat(doc_id));
    AwaitGoal();
    EXPECT_EQ(TitlesOf("quixotic"), Titles{});
    EXPECT_EQ(Send({.target = StrCat("/doc/", doc_id)}).status, 404);
    // The document is added again and gets the same number.
    EXPECT_EQ(json::parse(Post(DocumentText(url, "back")).body)["id"], StrCat(doc_id));
    AwaitGoal();
    EXPECT_EQ(TitlesOf("quixotic"), Titles{"back"});
    EXPECT_EQ(Delete(StrCat(doc_id)).status, 200);
    AwaitGoal();
  }
}

TEST_F(DocumentUpdatesTest, ChangesNeedTheTokenAndEachHasALineInTheAuditLog) {
  const auto post = [&](const neptune::HttpHeaders& more) {
    tools::HttpExchange exchange{.method = "POST",
                                 .target = "/documents",
                                 .headers = {{"Content-Type", "application/json"}},
                                 .body = DocumentText("http://a/", "first")};
    for (const auto& [name, value] : more) exchange.headers.Set(name, value);
    return Send(exchange);
  };
  for (const char* wrong : {"", "Bearer a-token-of-nobody", kDocumentToken}) {
    const HttpResponse refused = post({{"Authorization", wrong}});
    EXPECT_EQ(refused.status, 401) << wrong;
    EXPECT_NE(refused.body.find("document_token_file"), std::string::npos) << refused.body;
    EXPECT_EQ(Send({.method = "DELETE",
                    .target = StrCat("/documents/", DocumentOfTier(true)),
                    .headers = {{"Authorization", wrong}}})
                  .status,
              401);
  }
  EXPECT_EQ(post({{"Sec-Fetch-Site", "cross-site"}}).status, 403);
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), Titles{});
  const HttpResponse posted = post({});
  ASSERT_EQ(posted.status, 200) << posted.body;
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), Titles{"first"});
  std::ifstream file(folder_.path() + "/audit.log");
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  ASSERT_EQ(lines.size(), 1U) << "refusals change nothing";
  EXPECT_EQ(lines[0]["action"], "documents");
  EXPECT_EQ(lines[0]["method"], "POST");
  EXPECT_EQ(lines[0]["right"], "token");
  EXPECT_EQ(lines[0]["status"], 200);
  EXPECT_EQ(lines[0]["documents"], json::array({json::parse(posted.body)["id"]}));
}

TEST_F(DocumentUpdatesTest, AUrlWithTheNumberOfAnotherReplacesNothing) {
  // The same happens if the hashes of both urls are equal.
  const std::string number = StrCat(index::DocIdOfUrl("http://attacker/"));
  json victim = json::parse(DocumentText("http://victim/", "victim"));
  victim["id"] = number;
  ASSERT_EQ(Post(victim.dump()).status, 200);
  AwaitGoal();
  const HttpResponse refused = Post(DocumentText("http://attacker/", "attacker"));
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_NE(refused.body.find(number), std::string::npos) << refused.body;
  EXPECT_EQ(Send({.method = "DELETE", .target = "/documents?url=http%3A%2F%2Fattacker%2F"}).status,
            409);
  const json bulk = json::parse(Post(DocumentText("http://attacker/", "attacker") + "\n" +
                                         DocumentText("http://other/", "other") + "\n",
                                     "application/x-ndjson")
                                    .body);
  EXPECT_EQ(bulk["documents"][0]["status"], 409);
  EXPECT_EQ(bulk["documents"][1]["status"], 200);
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), (Titles{"other", "victim"}));
  // The document is still found by its own url.
  EXPECT_EQ(json::parse(Post(DocumentText("http://victim/", "newer")).body)["id"], number);
}

TEST_F(DocumentUpdatesTest, ARequestRepeatedUnderItsKeyIsOneChange) {
  const auto post = [&](const std::string& title, const std::string& key) {
    return Send({.method = "POST",
                 .target = "/documents",
                 .headers = {{"Content-Type", "application/json"}, {"Idempotency-Key", key}},
                 .body = DocumentText("http://a/", title)});
  };
  const HttpResponse first = post("first", "key-1");
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(post("second", "key-2").status, 200);
  // Sent again through the other frontend, it does not overwrite later changes.
  const HttpResponse again = post("first", "key-1");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), Titles{"second"});
  EXPECT_EQ(post("third", "key-1").status, 409);
  EXPECT_EQ(Post(DocumentText("http://a/", "first")).status, 200);
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), Titles{"first"});
}

TEST_F(DocumentUpdatesTest, ADocumentOfTier2StaysThereWhenItIsReplaced) {
  const uint64_t doc_id = DocumentOfTier(false);
  json document = json::parse(DocumentText("http://b/", "newer"));
  document["id"] = StrCat(doc_id);
  EXPECT_EQ(Post(document.dump()).status, 200);
  AwaitGoal();
  const StatusOr<SearchAnswer> answer = cluster_->Search({.query = "quixotic"});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->results.size(), 1u);
  EXPECT_EQ(answer->results[0].doc_id, StrCat(doc_id));
  EXPECT_EQ(answer->results[0].title, "newer");
  EXPECT_EQ(answer->total, 1u);
  ASSERT_EQ(answer->coverage.tiers.size(), 2u);
}

TEST_F(DocumentUpdatesTest, ARankMovesADocumentBetweenTiersAndItIsFoundOnce) {
  const uint64_t doc_id = DocumentOfTier(true);
  for (const double rank : {0.0, 1.0}) {
    json document = json::parse(DocumentText("http://b/", StrCat("rank ", rank)));
    document["id"] = StrCat(doc_id);
    document["static_rank"] = rank;
    EXPECT_EQ(Post(document.dump()).status, 200);
    AwaitGoal();
    const StatusOr<SearchAnswer> answer = cluster_->Search({.query = "quixotic"});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->total, 1u) << rank;
  }
}

TEST_F(DocumentUpdatesTest, ARemovedDocumentIsNeitherFoundNorShown) {
  const std::string id = json::parse(Post(DocumentText("http://a/", "first")).body)["id"];
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), Titles{"first"});
  EXPECT_EQ(Delete(id).status, 200);
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), Titles{});
  EXPECT_EQ(Send({.target = "/doc/" + id}).status, 404);
}

TEST_F(DocumentUpdatesTest, RemovingAMissingDocumentChangesNothing) {
  EXPECT_EQ(Delete("123456789").status, 200);
  EXPECT_EQ(Delete("one").status, 400);
}

TEST_F(DocumentUpdatesTest, ABulkRequestHasAStatusPerLine) {
  const std::string body = StrCat(DocumentText("http://a/", "first"), "\n{\"url\": 7}\n",
                                  DocumentText("http://b/", "second"), "\n{\"delete\": \"7\"}\n");
  const HttpResponse response = Post(body, "application/x-ndjson");
  EXPECT_EQ(response.status, 200);
  const json answer = json::parse(response.body);
  EXPECT_EQ(answer["failed"], 1);
  ASSERT_EQ(answer["documents"].size(), 4u);
  EXPECT_EQ(answer["documents"][1]["status"], 400);
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), (Titles{"first", "second"}));
}

TEST_F(DocumentUpdatesTest, MalformedOrOversizedRequestsChangeNothing) {
  EXPECT_EQ(Post("{").status, 400);
  EXPECT_EQ(Post(R"({"title": "no url"})").status, 400);
  EXPECT_EQ(Post(DocumentText("http://a/", std::string(5000, 'x'))).status, 400);
  EXPECT_EQ(Post(DocumentText("http://a/", "first"), "text/plain").status, 415);
  EXPECT_EQ(Post(std::string((size_t{16} << 20) + 1, ' ')).status, 413);
  AwaitGoal();
  EXPECT_EQ(TitlesOf("quixotic"), Titles{});
}

// Runs data/clusters/live.textproto unchanged.
TEST(LiveClusterTest, ThreeNodesTakeChangesAlsoWhenOneIsLost) {
  const index::TemporaryFolder folder;
  const SmallCorpus corpus = MakeSmallCorpus(5);
  const Placement placement(corpus, {});
  ASSERT_TRUE(BuildSmallIndex(folder.path(), corpus, placement).ok());
  SearchCluster cluster(1, SpecOf("live"), folder.path());
  cluster.simulator().RunFor(std::chrono::seconds(2));
  const auto post = [&](const char* web, const std::string& title) {
    const StatusOr<HttpResponse> response =
        cluster.Send(web, {.method = "POST",
                           .target = "/documents",
                           .headers = {{"Content-Type", "application/json"}},
                           .body = DocumentText("http://a/" + title, title)});
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->status, 200) << response->body;
  };
  const auto expect_found = [&](const Titles& titles) {
    cluster.simulator().RunFor(kFindableGoal);
    const StatusOr<SearchAnswer> answer =
        cluster.Search({.query = "quixotic", .may_use_cache = true});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_TRUE(answer->coverage.complete());
    Titles found;
    for (const auto& result : answer->results) found.insert(result.title);
    EXPECT_EQ(found, titles);
  };
  post("node-1", "first");
  for (int i = 0; i < 3; ++i) expect_found({"first"});  // each frontend is asked
  cluster.Kill("node-1");
  cluster.simulator().RunFor(std::chrono::seconds(2));
  post("node-2", "second");
  for (int i = 0; i < 3; ++i) expect_found({"first", "second"});
}

}  // namespace
}  // namespace search::tests
