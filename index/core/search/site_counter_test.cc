// Compares counts by site with the sites of all documents that a search finds.

#include "index/core/search/site_counter.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "index/core/search/searcher.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

// Some sites are names of others, and one document in six has none.
const char* const kSites[] = {"docs.python.org", "python.org", "git-doc",
                              "git-doc-html",    "git",        ""};

std::vector<TestDocument> Documents(size_t count, uint64_t seed) {
  std::vector<TestDocument> documents = ZipfDocuments(count, seed);
  std::mt19937_64 rng(seed);
  for (TestDocument& document : documents) document.site = kSites[rng() % std::size(kSites)];
  return documents;
}

Query Parsed(const std::string& text) {
  auto query = ParseQuery(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return *query;
}

class SiteCounterTest : public testing::Test {
 protected:
  void Build(size_t count, uint64_t seed) {
    documents_ = Documents(count, seed);
    for (const TestDocument& document : documents_) sites_[document.doc_id] = document.site;
    auto collection = TestCollection::Build(documents_, {});
    ASSERT_TRUE(collection.ok()) << collection.status();
    collection_ = std::move(*collection);
  }

  // Sites of the documents that a search finds, all of which must be among its hits.
  std::map<std::string, uint32_t> SitesFound(const Query& query, const LiveDocuments* live) {
    const auto found = collection_->searcher(0).Search(
        query, {.k = kHitCountMax, .count_exactly = true, .live_documents = live});
    EXPECT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->total, found->hits.size());
    std::map<std::string, uint32_t> counts;
    for (const Hit& hit : found->hits) ++counts[sites_[hit.doc_id]];
    return counts;
  }

  void ExpectCounts(const std::string& text, const LiveDocuments* live) {
    const Query query = Parsed(text);
    const auto counted = collection_->searcher(0).CountSites(query, {.live_documents = live});
    ASSERT_TRUE(counted.ok()) << counted.status();
    EXPECT_TRUE(counted->complete);
    std::map<std::string, uint32_t> expected = SitesFound(query, live);
    uint64_t total = 0;
    for (const auto& [site, count] : expected) total += count;
    EXPECT_EQ(counted->total, total) << text;
    expected.erase("");
    std::map<std::string, uint32_t> counts;
    for (const SiteCount& site : counted->sites) counts[site.name] = site.document_count;
    EXPECT_EQ(counts, expected) << text;
    EXPECT_TRUE(std::is_sorted(counted->sites.begin(), counted->sites.end(),
                               [](const auto& a, const auto& b) { return a.name < b.name; }));
  }

  std::vector<TestDocument> documents_;
  std::map<uint64_t, std::string> sites_;
  std::unique_ptr<TestCollection> collection_;
};

TEST_F(SiteCounterTest, CountsEveryMatchAtItsOwnSite) {
  Build(2'000, 7);
  for (const char* text : {"w1", "w1 OR w2 OR w3000", "w1 w2", "w1 -w2", "\"w1 w2\"", "title:w3",
                           "w1 site:git", "site:python.org", "nowhere", ""}) {
    ExpectCounts(text, nullptr);
  }
}

TEST_F(SiteCounterTest, CountsAsASearchFindsForRandomQueries) {
  Build(900, 8);
  LiveDocuments live(collection_->segment(0).document_count());
  for (uint32_t ordinal = 0; ordinal < live.document_count(); ordinal += 3) live.Delete(ordinal);
  std::mt19937_64 rng(8);
  for (int round = 0; round < 300; ++round) {
    ExpectCounts(RandomQuery(documents_, [&rng] { return rng(); }),
                 round % 2 == 0 ? nullptr : &live);
  }
}

TEST_F(SiteCounterTest, StoppedCountsAreLowerBounds) {
  Build(8'000, 9);
  const Query query = Parsed("w1 OR w2 OR w3");
  const auto whole = collection_->searcher(0).CountSites(query, {});
  const auto part = collection_->searcher(0).CountSites(query, {.stop = [] { return true; }});
  ASSERT_TRUE(whole.ok() && part.ok());
  EXPECT_TRUE(whole->complete);
  EXPECT_FALSE(part->complete);
  EXPECT_LE(part->total, whole->total);
}

TEST(SiteColumnTest, KnowsTheLongestNameOfEachDocument) {
  const std::vector<TestDocument> documents = {{.doc_id = 1, .body = "x", .site = "git-doc-html"},
                                               {.doc_id = 2, .body = "x", .site = "git"},
                                               {.doc_id = 3, .body = "x"},
                                               {.doc_id = 4, .body = "x", .site = "a.git"}};
  const auto collection = TestCollection::Build(documents, {});
  ASSERT_TRUE(collection.ok()) << collection.status();
  const auto column = SiteColumn::Read((*collection)->segment(0));
  ASSERT_TRUE(column.ok()) << column.status();
  ASSERT_TRUE(column->is_known());
  const auto name = [&](size_t i) { return column->names()[column->sites()[i]]; };
  EXPECT_EQ(name(0), "git-doc-html");
  EXPECT_EQ(name(1), "git");
  EXPECT_EQ(column->sites()[2], SiteColumn::kNone);
  EXPECT_EQ(name(3), "a.git");
}

}  // namespace
}  // namespace search::index
