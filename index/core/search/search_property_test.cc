// Random queries over real and synthetic documents, compared with evaluation of every document:
// pruned and exhaustive, one segment and several, hits, scores, gains and counts.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/testing/brute_force.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

constexpr uint64_t kSeed = 20260501;

struct Shape {
  size_t partition_count;
  bool two_tiers;
};

constexpr Shape kShapes[] = {{1, false}, {1, true}, {3, false}, {3, true}, {4, true}};

class Checker {
 public:
  Checker(std::vector<TestDocument> documents, const RankingOptions& ranking)
      : documents_(std::move(documents)), oracle_(documents_, ranking) {}

  void AddCollection(const CollectionOptions& options) {
    auto collection = TestCollection::Build(documents_, options);
    ASSERT_TRUE(collection.ok()) << collection.status();
    collections_.push_back(std::move(*collection));
  }

  // Deletes about one document in `every`.
  void DeleteSome(uint64_t every) {
    std::mt19937_64 rng(kSeed + every);
    for (const TestDocument& document : documents_) {
      if (rng() % every != 0) continue;
      oracle_.Delete(document.doc_id);
      for (const auto& collection : collections_) {
        ASSERT_TRUE(collection->Delete(document.doc_id));
      }
    }
  }

  void CheckQueries(int count) {
    std::mt19937_64 rng(kSeed);
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
      const std::string text = RandomQuery(documents_, [&rng] { return rng(); });
      CheckQuery(text, 1 + rng() % 20);
      if (i % 4 == 0) CheckTwoPhases(text, 1 + rng() % 20, 1 + rng() % 40);
    }
    EXPECT_GT(match_count_, count / 2) << "most queries should match something";
  }

  void CheckQuery(const std::string& text, size_t k) {
    const auto query = ParseQuery(text);
    ASSERT_TRUE(query.ok()) << query.status() << " " << text;
    const SearchResult expected = oracle_.Search(*query, k);
    match_count_ += expected.total > 0 ? 1 : 0;
    for (size_t i = 0; i < collections_.size(); ++i) {
      SCOPED_TRACE(neptune::StrCat("query '", text, "' k ", k, " collection ", i));
      CheckAnswer(*collections_[i], *query, {.k = k, .count_exactly = true}, expected);
      CheckAnswer(*collections_[i], *query, {.k = k}, expected);
      CheckAnswer(*collections_[i], *query, {.k = k, .exhaustive = true}, expected);
    }
  }

  // Phrases as alternatives of words, as synonyms are, alone and beside required words.
  void CheckPhraseAlternatives(int count) {
    std::mt19937_64 rng(kSeed + 7);
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
      const auto phrase = [&] {
        return neptune::StrCat("\"", RandomWords(2 + rng() % 2, &rng), "\"^0.5");
      };
      std::string any = neptune::StrCat(RandomWords(1, &rng), " OR ", phrase());
      if (rng() % 2 == 0) neptune::StrAppend(&any, " OR ", RandomWords(1, &rng));
      if (rng() % 3 == 0) neptune::StrAppend(&any, " OR ", phrase());
      if (rng() % 8 == 0) any = neptune::StrCat(phrase(), " OR ", phrase());
      if (rng() % 8 == 0) {
        any = neptune::StrCat(RandomWords(1, &rng), " OR (", RandomWords(1, &rng), " NEAR/3 ",
                              RandomWords(1, &rng), ")");
      }
      const std::string word = RandomWords(1, &rng);
      const std::string questions[] = {any, neptune::StrCat(word, " (", any, ")"),
                                       neptune::StrCat("(", any, ") -", word),
                                       neptune::StrCat(phrase(), " (", any, ")")};
      const std::string& text = questions[rng() % 4];
      CheckQuery(text, 1 + rng() % 20);
      if (i % 4 == 0) CheckTwoPhases(text, 1 + rng() % 20, 1 + rng() % 40);
    }
    EXPECT_GT(match_count_, count / 4);
  }

  // The weights are far from the defaults, so that ranks change.
  void CheckTwoPhases(const std::string& text, size_t k, size_t count) {
    const auto query = ParseQuery(text);
    ASSERT_TRUE(query.ok()) << query.status() << " " << text;
    const SecondPhaseWeights weights = {.proximity = 1, .title = 0.5F, .lead = 0.75F};
    const SearchResult expected = oracle_.SearchTwice(*query, k, count, weights);
    for (size_t i = 0; i < collections_.size(); ++i) {
      SCOPED_TRACE(neptune::StrCat("query '", text, "' k ", k, " collection ", i,
                                   " second phase for ", count));
      SearchOptions options = {.k = k, .second_phase_count = count, .second_phase = weights};
      CheckAnswer(*collections_[i], *query, options, expected);
      options.exhaustive = true;
      CheckAnswer(*collections_[i], *query, options, expected);
    }
  }

 private:
  // Words that stand side by side in a document.
  std::string RandomWords(size_t count, std::mt19937_64* rng) const {
    const std::string& body = documents_[(*rng)() % documents_.size()].body;
    std::vector<std::string> words;
    std::istringstream stream(body);
    for (std::string word; stream >> word;) {
      const bool is_plain = std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      });
      if (is_plain) words.push_back(word);
    }
    std::string text;
    const size_t first = words.size() <= count ? 0 : (*rng)() % (words.size() - count);
    for (size_t i = first; i < std::min(first + count, words.size()); ++i) {
      neptune::StrAppend(&text, text.empty() ? "" : " ", words[i]);
    }
    return text.empty() ? "none" : text;
  }

  static void CheckAnswer(const TestCollection& collection, const Query& query,
                          const SearchOptions& options, const SearchResult& expected) {
    const auto result = collection.Search(query, options);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->complete);
    ASSERT_EQ(result->hits.size(), expected.hits.size());
    for (size_t i = 0; i < expected.hits.size(); ++i) {
      ASSERT_EQ(result->hits[i].doc_id, expected.hits[i].doc_id) << "hit " << i;
      ASSERT_EQ(result->hits[i].score, expected.hits[i].score) << "hit " << i;
      ASSERT_EQ(result->hits[i].gain, expected.hits[i].gain) << "hit " << i;
    }
    ASSERT_EQ(result->second_phase_count, expected.second_phase_count);
    if (options.count_exactly || options.exhaustive) {
      ASSERT_TRUE(result->total_is_exact);
    }
    if (result->total_is_exact) {
      ASSERT_EQ(result->total, expected.total);
    } else {
      ASSERT_LE(result->total, expected.total);
      ASSERT_GE(result->total, result->hits.size());
    }
  }

  std::vector<TestDocument> documents_;
  BruteForce oracle_;
  std::vector<std::unique_ptr<TestCollection>> collections_;
  int match_count_ = 0;
};

TEST(SearchPropertyTest, LicensesInPartitionsAnswerAsBruteForce) {
  std::vector<TestDocument> documents = LicenseDocuments();
  if (documents.empty()) GTEST_SKIP() << "SKIPPED: no /usr/share/common-licenses";
  EXPECT_GE(documents.size(), 200U);
  Checker checker(std::move(documents), {});
  for (const Shape& shape : kShapes) {
    checker.AddCollection({.partition_count = shape.partition_count, .two_tiers = shape.two_tiers});
  }
  checker.CheckQueries(1500);
}

TEST(SearchPropertyTest, ManyBlocksAndTiesAnswerAsBruteForce) {
  Checker checker(ZipfDocuments(6000, kSeed), {});
  checker.AddCollection({});
  checker.AddCollection({.reorder = true});
  checker.AddCollection({.partition_count = 3, .two_tiers = true});
  checker.AddCollection({.partition_count = 2, .reorder = true});
  checker.CheckQueries(600);
}

TEST(SearchPropertyTest, PhrasesAsAlternativesAnswerAsBruteForce) {
  std::vector<TestDocument> licenses = LicenseDocuments();
  if (licenses.empty()) GTEST_SKIP() << "SKIPPED: no /usr/share/common-licenses";
  Checker of_licenses(std::move(licenses), {});
  of_licenses.AddCollection({});
  of_licenses.AddCollection({.partition_count = 3, .two_tiers = true});
  of_licenses.CheckPhraseAlternatives(600);
  Checker checker(ZipfDocuments(6000, kSeed + 3), {});
  checker.AddCollection({});
  checker.AddCollection({.partition_count = 2, .reorder = true});
  checker.DeleteSome(10);
  checker.CheckPhraseAlternatives(400);
}

TEST(SearchPropertyTest, DeletedDocumentsAreAsIfAbsent) {
  for (const uint64_t every : {2, 10}) {
    Checker checker(ZipfDocuments(4000, kSeed + 2), {});
    checker.AddCollection({});
    checker.AddCollection({.partition_count = 3, .reorder = true});
    checker.DeleteSome(every);
    checker.CheckQueries(400);
  }
}

TEST(SearchPropertyTest, OtherRankingAnswersAsBruteForce) {
  RankingOptions ranking;
  ranking.k1 = 2;
  ranking.fields = {{{.weight = 0, .b = 1}, {.weight = 2, .b = 1}, {.weight = 5, .b = 0}}};
  ranking.static_rank_weight = 20;
  Checker checker(ZipfDocuments(1500, kSeed + 1), ranking);
  checker.AddCollection({.ranking = ranking});
  checker.AddCollection({.partition_count = 2, .ranking = ranking});
  checker.CheckQueries(400);
}

TEST(SearchPropertyTest, WikipediaInPartitionsAnswersAsBruteForce) {
  std::vector<TestDocument> documents = WikiMiniDocuments(6000);
  if (documents.empty()) GTEST_SKIP() << "SKIPPED: no shared data (NEPTUNE_SHARED_DATA)";
  Checker checker(std::move(documents), {});
  checker.AddCollection({});
  checker.AddCollection({.partition_count = 3});
  checker.AddCollection({.partition_count = 4, .two_tiers = true});
  checker.CheckQueries(250);
}

}  // namespace
}  // namespace search::index
