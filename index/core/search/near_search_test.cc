// Compares searches for words near each other with evaluation of every document: alone and in every
// place of a query, pruned and exhaustive, counted, with deleted documents.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/search/searcher.h"
#include "index/core/testing/brute_force.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

constexpr uint64_t kSeed = 77;

Query Parsed(const std::string& text) {
  auto query = ParseQuery(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return *query;
}

std::vector<uint64_t> Found(const TestCollection& collection, const std::string& text) {
  const auto result = collection.Search(Parsed(text), {.k = 100});
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<uint64_t> doc_ids;
  for (const Hit& hit : result->hits) doc_ids.push_back(hit.doc_id);
  std::sort(doc_ids.begin(), doc_ids.end());
  return doc_ids;
}

TEST(NearSearchTest, CountsDistancesInOneField) {
  const std::vector<TestDocument> documents = {{.doc_id = 1, .body = "cat a b dog"},
                                               {.doc_id = 2, .body = "dog a b c cat"},
                                               {.doc_id = 3, .title = "cat", .body = "dog"},
                                               {.doc_id = 4, .body = "cat a b c d dog x cat"},
                                               {.doc_id = 5, .title = "dog a cat fish"}};
  const auto built = TestCollection::Build(documents, {});
  ASSERT_TRUE(built.ok()) << built.status();
  const TestCollection& collection = **built;
  using Ids = std::vector<uint64_t>;
  EXPECT_EQ(Found(collection, "cat NEAR/1 dog"), Ids{});
  EXPECT_EQ(Found(collection, "cat NEAR/2 dog"), (Ids{4, 5}));
  EXPECT_EQ(Found(collection, "dog NEAR/3 cat"), (Ids{1, 4, 5}));
  EXPECT_EQ(Found(collection, "cat NEAR dog"), (Ids{1, 2, 4, 5}));
  EXPECT_EQ(Found(collection, "title:(cat NEAR dog)"), Ids{5});
  EXPECT_EQ(Found(collection, "cat NEAR/3 dog NEAR/3 fish"), Ids{5});
  EXPECT_EQ(Found(collection, "cat NEAR/2 dog NEAR/2 fish"), Ids{});
  EXPECT_EQ(Found(collection, "cat dog -(cat NEAR/2 dog)"), (Ids{1, 2, 3}));
}

class RandomNear {
 public:
  std::string Word() { return "w" + std::to_string(rng_() % (1 + rng_() % 40)); }
  std::string Near() {
    std::string text = Word() + " NEAR/" + std::to_string(1 + rng_() % 12) + " " + Word();
    if (rng_() % 4 == 0) text += " NEAR " + Word();
    return text;
  }
  std::string Text() {
    switch (rng_() % 7) {
      case 0:
        return Word() + " " + Near();
      case 1:
        return Near() + " OR " + Word();
      case 2:
        return Word() + " -(" + Near() + ")";
      case 3:
        return "title:(" + Near() + ") OR " + Near();
      case 4:
        return Near() + " ~" + Word() + " -" + Word();
      case 5:
        return Near() + " " + Near() + " (" + Word() + " OR " + Word() + ")";
      default:
        return Near();
    }
  }

 private:
  std::mt19937_64 rng_{kSeed};
};

TEST(NearSearchTest, FindsWhatTheSlowSearchFinds) {
  const std::vector<TestDocument> documents = ZipfDocuments(1'500, kSeed);
  BruteForce oracle(documents, {});
  const auto built = TestCollection::Build(documents, {.partition_count = 2});
  ASSERT_TRUE(built.ok()) << built.status();
  for (const TestDocument& document : documents) {
    if (document.doc_id % 7 != 0) continue;
    oracle.Delete(document.doc_id);
    ASSERT_TRUE((*built)->Delete(document.doc_id));
  }
  RandomNear random;
  int match_count = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string text = random.Text();
    const Query query = Parsed(text);
    const SearchResult expected = oracle.Search(query, 10);
    match_count += expected.total > 0 ? 1 : 0;
    for (const SearchOptions& options :
         {SearchOptions{.k = 10}, SearchOptions{.k = 10, .count_exactly = true},
          SearchOptions{.k = 10, .exhaustive = true}}) {
      const auto result = (*built)->Search(query, options);
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_EQ(result->hits, expected.hits) << text;
      if (result->total_is_exact) {
        ASSERT_EQ(result->total, expected.total) << text;
      }
      ASSERT_TRUE(result->total_is_exact || !options.count_exactly) << text;
    }
  }
  EXPECT_GT(match_count, 200) << "seed " << kSeed;
}

}  // namespace
}  // namespace search::index
