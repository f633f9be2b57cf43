#include "index/core/search/explanation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "index/core/search/ranking.h"
#include "index/core/search/searcher.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

std::unique_ptr<TestCollection> Build(const std::vector<TestDocument>& documents) {
  auto collection = TestCollection::Build(documents, {});
  EXPECT_TRUE(collection.ok()) << collection.status();
  return std::move(*collection);
}

std::vector<TestDocument> TwoDocuments() {
  return {{.doc_id = 3, .title = "Apple", .body = "apple pear pear", .static_rank = 0.25F},
          {.doc_id = 7, .title = "Pear", .body = "fig"}};
}

Query Parsed(const std::string& text) {
  auto query = ParseQuery(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return *query;
}

TEST(ExplanationTest, NamesEachPart) {
  const auto collection = Build(TwoDocuments());
  const auto made = collection->searcher(0).Explain(Parsed("pear apple pear title:pear kiwi"), 3);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_FALSE(made->matches);
  ASSERT_EQ(made->terms.size(), 4U);
  const TermExplanation& pear = made->terms[0];
  EXPECT_EQ(pear.term, "pear");
  EXPECT_EQ(pear.occurrences, 2U);
  EXPECT_EQ(pear.document_frequency, 2U);
  EXPECT_NEAR(pear.idf, std::log(1 + 0.5 / 2.5), 1e-12);
  EXPECT_EQ(pear.frequencies, (std::array<uint32_t, kFieldCount>{0, 2, 0}));
  EXPECT_EQ(made->terms[1].frequencies, (std::array<uint32_t, kFieldCount>{1, 1, 0}));
  EXPECT_TRUE(made->terms[2].title_only);
  EXPECT_EQ(made->terms[2].units, 0U);
  EXPECT_EQ(made->terms[3].document_frequency, 0U);
  EXPECT_EQ(made->static_rank, 0.25F);
  EXPECT_EQ(ToScore(made->static_rank_units), 0.25F * RankingOptions().static_rank_weight);
}

TEST(ExplanationTest, SaysAWordTwiceIsWorthTwice) {
  const auto collection = Build(TwoDocuments());
  const auto once = collection->searcher(0).Explain(Parsed("pear apple"), 3);
  const auto twice = collection->searcher(0).Explain(Parsed("pear apple pear"), 3);
  ASSERT_TRUE(once.ok() && twice.ok());
  EXPECT_GT(once->terms[0].units, 0U);
  EXPECT_EQ(twice->terms[0].units, 2 * once->terms[0].units);
  EXPECT_EQ(twice->terms[1].units, once->terms[1].units);
}

TEST(ExplanationTest, RefusesADocumentThatIsNotThere) {
  const auto collection = Build(TwoDocuments());
  const auto made = collection->searcher(0).Explain(Parsed("pear"), 4);
  EXPECT_EQ(made.status().code(), neptune::StatusCode::kNotFound);
}

TEST(ExplanationTest, TextNamesTheWordsAndTheScore) {
  const auto collection = Build(TwoDocuments());
  const auto made = collection->searcher(0).Explain(Parsed("title:apple pear"), 3);
  ASSERT_TRUE(made.ok());
  const std::string text = ToText(*made);
  EXPECT_NE(text.find("document 3,"), std::string::npos) << text;
  EXPECT_NE(text.find("title:appl: 1 in query"), std::string::npos) << text;
  EXPECT_NE(text.find("static rank 0.25"), std::string::npos) << text;
}

TEST(ExplanationTest, PartsSumToTheScoreOfEachHit) {
  const std::vector<TestDocument> documents = ZipfDocuments(800, 5);
  const auto collection = Build(documents);
  std::mt19937_64 rng(31);
  size_t explained = 0;
  for (int round = 0; round < 300; ++round) {
    const std::string text = RandomQuery(documents, [&rng] { return rng(); });
    const Query query = Parsed(text);
    const auto result = collection->Search(query, {.k = 10});
    ASSERT_TRUE(result.ok()) << result.status();
    for (const Hit& hit : result->hits) {
      const auto made = collection->searcher(0).Explain(query, hit.doc_id);
      ASSERT_TRUE(made.ok()) << made.status();
      ScoreUnits sum = made->static_rank_units;
      for (const TermExplanation& term : made->terms) sum += term.units;
      ASSERT_TRUE(made->matches) << text;
      ASSERT_EQ(sum, made->score_units) << text;
      ASSERT_EQ(made->score, hit.score) << text << " document " << hit.doc_id;
      ++explained;
    }
  }
  EXPECT_GT(explained, 300U);
}

}  // namespace
}  // namespace search::index
