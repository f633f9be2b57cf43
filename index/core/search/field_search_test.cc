// Compares filters by address, language and date, and the order by date, with evaluation of every
// document.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "index/core/document_fields.h"
#include "index/core/query/query.h"
#include "index/core/search/searcher.h"
#include "index/core/testing/brute_force.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

constexpr uint64_t kSeed = 91;

Query Parsed(const std::string& text) {
  auto query = ParseQuery(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return *query;
}

std::string RandomDate(std::mt19937_64& rng, int size) {
  std::string date = std::to_string(2019 + rng() % 5);
  const auto two = [](uint64_t number) {
    return (number < 10 ? "-0" : "-") + std::to_string(number);
  };
  if (size > 4) date += two(1 + rng() % 12);
  if (size > 7) date += two(1 + rng() % 28);
  return date;
}

std::vector<TestDocument> Documents(size_t count) {
  std::vector<TestDocument> documents = ZipfDocuments(count, kSeed);
  std::mt19937_64 rng(kSeed);
  for (TestDocument& document : documents) {
    document.url = "https://site.org/" + std::string(rng() % 2 == 0 ? "docs" : "blog") + "/page-" +
                   std::to_string(rng() % 20) + ".html";
    if (rng() % 3 != 0) document.language = rng() % 2 == 0 ? "en-US" : "de";
    if (rng() % 4 != 0) document.date = RandomDate(rng, 10);
  }
  return documents;
}

class FieldSearchTest : public testing::Test {
 protected:
  FieldSearchTest() : documents_(Documents(1'200)), oracle_(documents_, {}) {}

  void SetUp() override {
    auto built = TestCollection::Build(documents_, {.partition_count = 2});
    ASSERT_TRUE(built.ok()) << built.status();
    collection_ = std::move(*built);
    for (const TestDocument& document : documents_) {
      if (document.doc_id % 9 != 0) continue;
      oracle_.Delete(document.doc_id);
      ASSERT_TRUE(collection_->Delete(document.doc_id));
    }
  }

  uint32_t DayOf(uint64_t doc_id) const {
    for (const TestDocument& document : documents_) {
      if (document.doc_id == doc_id && !document.date.empty()) {
        return ParseDate(document.date)->first;
      }
    }
    return 0;
  }

  std::string RandomFilter() {
    const auto word = [this] { return "w" + std::to_string(rng_() % 12); };
    switch (rng_() % 8) {
      case 0:
        return word() + " url:docs/page-" + std::to_string(rng_() % 20);
      case 1:
        return word() + " lang:" + (rng_() % 2 == 0 ? "en" : "en-us");
      case 2:
        return "after:" + RandomDate(rng_, 4) + " before:" + RandomDate(rng_, 7);
      case 3:
        return word() + " -after:" + RandomDate(rng_, 10);
      case 4:
        return "(" + word() + " OR " + word() + ") before:" + RandomDate(rng_, 10);
      case 5:
        return "lang:de after:" + RandomDate(rng_, 7);
      case 6:
        return word() + " lang:fr";
      default:
        return "after:" + RandomDate(rng_, 10) + " " + word() + " -lang:de";
    }
  }

  std::mt19937_64 rng_{kSeed};
  std::vector<TestDocument> documents_;
  BruteForce oracle_;
  std::unique_ptr<TestCollection> collection_;
};

TEST_F(FieldSearchTest, FiltersFindWhatTheSlowSearchFinds) {
  int match_count = 0;
  for (int round = 0; round < 300; ++round) {
    const std::string text = RandomFilter();
    const Query query = Parsed(text);
    ASSERT_TRUE(query.notes.empty()) << text << ": " << query.notes[0];
    const SearchResult expected = oracle_.Search(query, 10);
    const auto result = collection_->Search(query, {.k = 10, .count_exactly = true});
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->hits, expected.hits) << text;
    ASSERT_EQ(result->total, expected.total) << text;
    match_count += expected.total > 0 ? 1 : 0;
  }
  EXPECT_GT(match_count, 150) << "seed " << kSeed;
}

TEST_F(FieldSearchTest, OrderByDateIsThatOfAllMatches) {
  for (int round = 0; round < 100; ++round) {
    const std::string text = RandomFilter();
    const Query query = Parsed(text);
    const SearchResult all = oracle_.Search(query, documents_.size());
    std::vector<Hit> expected;
    uint64_t undated = 0;
    for (const Hit& hit : all.hits) {
      const uint32_t day = DayOf(hit.doc_id);
      expected.push_back({hit.doc_id, static_cast<float>(day)});
      undated += day == 0 ? 1 : 0;
    }
    std::sort(expected.begin(), expected.end(), [](const Hit& a, const Hit& b) {
      return a.score != b.score ? a.score > b.score : a.doc_id < b.doc_id;
    });
    if (expected.size() > 15) expected.resize(15);
    const auto result = collection_->Search(query, {.k = 15, .by_date = true});
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->hits, expected) << text;
    EXPECT_EQ(result->total, all.total) << text;
    EXPECT_EQ(result->undated, undated) << text;
    EXPECT_TRUE(result->total_is_exact);
  }
}

TEST(FieldSearchOfOldIndexTest, FindsNothingAndOrdersByNumber) {
  const std::vector<TestDocument> documents = {{.doc_id = 3, .body = "cat"},
                                               {.doc_id = 5, .body = "cat"}};
  const auto built = TestCollection::Build(documents, {});
  ASSERT_TRUE(built.ok()) << built.status();
  for (const char* text : {"cat lang:en", "cat after:2000", "cat url:docs"}) {
    EXPECT_EQ((*built)->Search(Parsed(text), {.k = 5})->hits.size(), 0u) << text;
  }
  const auto result = (*built)->Search(Parsed("cat"), {.k = 5, .by_date = true});
  ASSERT_EQ(result->hits.size(), 2u);
  EXPECT_EQ(result->hits[0].doc_id, 3u);
  EXPECT_EQ(result->undated, 2u);
}

}  // namespace
}  // namespace search::index
