// Compares explained scores and counts by site of a whole cluster with one index over the same
// documents, in the simulated world.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "frontend/model/search_request.h"
#include "frontend/policy/site_facets.h"
#include "index/core/query/query.h"
#include "index/core/testing/collection.h"
#include "index/tier/explain_operators.h"
#include "index/tier/facet_operators.h"
#include "neptune/base/strings.h"
#include "tests/search_cluster/search_cluster.h"
#include "tests/search_cluster/single_index.h"

namespace search::tests {
namespace {

using frontend::SearchPath;
using nlohmann::json;

constexpr int kQuestionCount = 120;
constexpr double kTolerance = 0.00005;  // four decimals

class SearchDetailsTest : public SingleIndexTest {
 protected:
  json Ask(SearchCluster& cluster, const frontend::SearchPageRequest& request) {
    frontend::SearchPageRequest as_json = request;
    as_json.format = frontend::PageFormat::kJson;
    as_json.may_correct = false;  // the one index is asked as typed
    as_json.may_relax = false;
    const auto response =
        cluster.Get("web-1", SearchPath(as_json), {{"Cache-Control", "no-cache"}});
    EXPECT_TRUE(response.ok()) << response.status();
    if (!response.ok()) return {};
    EXPECT_EQ(response->status, 200) << response->body;
    return json::parse(response->body, nullptr, false);
  }

  std::string RandomQuestion(std::mt19937_64& random) {
    return index::RandomQuery(corpus_.documents, [&] { return random(); });
  }

  index::DocumentExplanation ExplainedByOneIndex(const std::string& question,
                                                 const std::string& doc_id) {
    index::ExplainQuery query;
    query.set_query(index::Canonical(*index::ParseQuestion(question)));
    query.add_doc_ids(std::stoull(doc_id));
    const auto explained = index::ExplainOperator(*single_, query);
    EXPECT_TRUE(explained.ok()) << explained.status();
    EXPECT_EQ(explained->documents_size(), 1);
    return explained->documents_size() == 1 ? explained->documents(0)
                                            : index::DocumentExplanation();
  }

  static std::string NameOf(const json& word) {
    return (word["title_only"] ? "title:" : "") + word["term"].get<std::string>();
  }

  void ExpectExplained(const std::string& question, const json& result) {
    ASSERT_TRUE(result.contains("explanation")) << question;
    const json& explanation = result["explanation"];
    EXPECT_TRUE(explanation["is_current"]) << question;
    double sum = explanation["static_rank"]["score"];
    for (const json& word : explanation["words"]) sum += word["score"].get<double>();
    EXPECT_NEAR(sum, explanation["first_phase"].get<double>(), kTolerance) << question;
    for (const char* part : {"proximity", "title", "lead"}) {
      if (!explanation["second_phase"].is_null())
        sum += explanation["second_phase"][part].get<double>();
    }
    EXPECT_NEAR(sum, result["score"].get<double>(), kTolerance) << question;

    const auto one = ExplainedByOneIndex(question, result["id"]);
    EXPECT_NEAR(explanation["first_phase"].get<double>(), one.score(), kTolerance) << question;
    // A partition may lack words of a prefix that another one holds.
    std::map<std::string, double> scores;
    for (const json& word : explanation["words"]) scores[NameOf(word)] = word["score"];
    for (const index::WordExplanation& word : one.words()) {
      const std::string name = (word.title_only() ? "title:" : "") + word.term();
      EXPECT_NEAR(scores[name], word.score(), kTolerance) << question << " " << name;
    }
  }
};

TEST_F(SearchDetailsTest, PartsOfEachScoreAddUpAndAreThoseOfOneIndex) {
  Build();
  SearchCluster cluster(11, DevSpec(), folder_.path());
  std::mt19937_64 random(11);
  size_t explained_count = 0;
  for (int i = 0; i < kQuestionCount; ++i) {
    const std::string question = RandomQuestion(random);
    const json answer = Ask(cluster, {.query = question, .explain = true});
    EXPECT_EQ(answer["explanation_note"], "") << question;
    for (const json& result : answer["results"]) {
      ExpectExplained(question, result);
      ++explained_count;
    }
  }
  EXPECT_GT(explained_count, 300u) << "too few results";
}

TEST_F(SearchDetailsTest, CountsBySiteAreThoseOfOneIndex) {
  Build();
  SearchCluster cluster(12, DevSpec(), folder_.path());
  std::mt19937_64 random(12);
  size_t site_count = 0;
  for (int i = 0; i < kQuestionCount; ++i) {
    const std::string question = RandomQuestion(random);
    index::FacetQuery query;
    query.set_query(index::Canonical(*index::ParseQuestion(question)));
    const auto one = index::FacetOperator(*single_, query, {});
    ASSERT_TRUE(one.ok()) << one.status();
    const frontend::SiteFacets expected = frontend::MakeSiteFacets(*one, true);
    const json answer = Ask(cluster, {.query = question, .site_facets = true});
    if (!answer.contains("facets")) {
      EXPECT_TRUE(answer["results"].empty()) << question;
      continue;
    }
    const json& sites = answer["facets"]["site"];
    EXPECT_TRUE(sites["is_exact"]) << question << ": " << sites["note"];
    EXPECT_EQ(sites["total"], expected.total) << question;
    ASSERT_EQ(sites["values"].size(), expected.sites.size()) << question;
    for (size_t site = 0; site < expected.sites.size(); ++site) {
      EXPECT_EQ(sites["values"][site]["value"], expected.sites[site].name) << question;
      EXPECT_EQ(sites["values"][site]["count"], expected.sites[site].document_count) << question;
      ++site_count;
    }
  }
  EXPECT_GT(site_count, 200u);
}

// The counted number is that of the question that filters by the site.
TEST_F(SearchDetailsTest, ALinkedSiteFindsAsManyAsItCounts) {
  Build();
  SearchCluster cluster(13, DevSpec(), folder_.path());
  const json answer = Ask(cluster, {.query = "license OR w1 OR thread", .site_facets = true});
  ASSERT_FALSE(answer["facets"]["site"]["values"].empty());
  for (const json& site : answer["facets"]["site"]["values"]) {
    const json narrowed = Ask(cluster, {.query = site["query"], .site_facets = true});
    EXPECT_EQ(narrowed["facets"]["site"]["total"], site["count"]) << site;
  }
}

TEST_F(SearchDetailsTest, AMissingPartitionMakesCountsLowerBounds) {
  Build();
  SearchCluster cluster(14, DevSpec(), folder_.path());
  const json whole = Ask(cluster, {.query = "license", .site_facets = true});
  // Both replicas of partition 1 of tier 1, and of one of tier 2.
  for (const char* node : {"store-1", "store-3"}) cluster.Kill(node);
  cluster.simulator().RunFor(std::chrono::seconds(20));
  const json part = Ask(cluster, {.query = "license", .site_facets = true});
  const json& sites = part["facets"]["site"];
  EXPECT_FALSE(part["coverage"]["complete"]);
  EXPECT_FALSE(sites["is_exact"]);
  EXPECT_NE(sites["note"], "");
  EXPECT_LE(sites["total"], whole["facets"]["site"]["total"]);
}

TEST_F(SearchDetailsTest, AnEngineThatHasNoDetailsSaysSo) {
  Build({.tier_implementation = "rocksdb_postings"});
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "tier1", "implementation", "rocksdb_postings");
  SetParameter(&spec, "tier2", "implementation", "rocksdb_postings");
  SearchCluster cluster(15, spec, folder_.path());
  const json answer = Ask(cluster, {.query = "license", .explain = true, .site_facets = true});
  ASSERT_FALSE(answer["results"].empty());
  EXPECT_FALSE(answer["results"][0].contains("explanation"));
  for (const json& note : {answer["explanation_note"], answer["facets"]["site"]["note"]}) {
    EXPECT_NE(note.get<std::string>().find("rocksdb_postings"), std::string::npos) << note;
  }
  EXPECT_FALSE(answer["facets"]["site"]["is_exact"]);
}

}  // namespace
}  // namespace search::tests
