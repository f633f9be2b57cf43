#include "index/core/search/searcher.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "index/core/builder/index_builder.h"
#include "index/core/search/global_statistics.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

std::vector<TestDocument> FourDocuments() {
  return {{.doc_id = 10,
           .title = "Hash map",
           .body = "A map from keys to values",
           .extra_text = "",
           .site = "cpp-docs",
           .static_rank = 0},
          {.doc_id = 20,
           .title = "Sorting",
           .body = "sorts a vector of keys",
           .extra_text = "qsort",
           .site = "cpp-docs",
           .static_rank = 0.9F},
          {.doc_id = 30,
           .title = "Map of the city",
           .body = "streets and a hash browns stand",
           .extra_text = "",
           .site = "town.example.org",
           .static_rank = 0},
          {.doc_id = 40,
           .title = "Nothing",
           .body = "map hash",
           .extra_text = "",
           .site = "",
           .static_rank = 0}};
}

class SearcherTest : public testing::Test {
 protected:
  void SetUp() override { Build(FourDocuments(), {}); }

  void Build(const std::vector<TestDocument>& documents, const CollectionOptions& options) {
    auto collection = TestCollection::Build(documents, options);
    ASSERT_TRUE(collection.ok()) << collection.status();
    collection_ = std::move(*collection);
  }

  SearchResult Search(const std::string& text,
                      const SearchOptions& options = {.k = 10, .count_exactly = true}) {
    const auto query = ParseQuery(text);
    EXPECT_TRUE(query.ok()) << query.status();
    const auto result = collection_->Search(*query, options);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  std::vector<uint64_t> Found(const std::string& text) {
    const SearchResult result = Search(text);
    EXPECT_TRUE(result.total_is_exact && result.complete);
    EXPECT_EQ(result.total, result.hits.size());
    std::vector<uint64_t> doc_ids;
    for (const Hit& hit : result.hits) doc_ids.push_back(hit.doc_id);
    std::sort(doc_ids.begin(), doc_ids.end());
    return doc_ids;
  }

  std::unique_ptr<TestCollection> collection_;
};

using DocIds = std::vector<uint64_t>;

TEST_F(SearcherTest, DeletedDocumentIsNeitherFoundNorCounted) {
  ASSERT_TRUE(collection_->Delete(30));
  EXPECT_EQ(Found("map"), (DocIds{10, 40}));
  EXPECT_EQ(Found("map OR keys"), (DocIds{10, 20, 40}));
  EXPECT_EQ(Found("map -keys"), (DocIds{40}));
  EXPECT_EQ(Found("site:town.example.org"), (DocIds{}));
  EXPECT_EQ(Search("hash map", {.k = 0, .count_exactly = true}).total, 2U);
}

TEST_F(SearcherTest, LiveDocumentsOfAnotherSegmentAreRefused) {
  const LiveDocuments live(collection_->segment(0).document_count() + 1);
  const auto result =
      collection_->searcher(0).Search(*ParseQuery("map"), {.live_documents = &live});
  EXPECT_EQ(result.status().code(), neptune::StatusCode::kInvalidArgument);
}

TEST_F(SearcherTest, AnswersEachConstruct) {
  EXPECT_EQ(Found("map"), (DocIds{10, 30, 40}));
  EXPECT_EQ(Found("hash map"), (DocIds{10, 30, 40}));
  EXPECT_EQ(Found("\"hash map\""), (DocIds{10}));
  EXPECT_EQ(Found("\"map hash\""), (DocIds{40})) << "a phrase stands in one field";
  EXPECT_EQ(Found("title:map"), (DocIds{10, 30}));
  EXPECT_EQ(Found("title:hash OR vector"), (DocIds{10, 20}));
  EXPECT_EQ(Found("map -title:hash"), (DocIds{30, 40}));
  EXPECT_EQ(Found("keys site:cpp-docs -sorting"), (DocIds{10}));
  EXPECT_EQ(Found("site:example.org"), (DocIds{30}));
  EXPECT_EQ(Found("(vector OR streets) (keys OR city)"), (DocIds{20, 30}));
  EXPECT_EQ(Found("qsort"), (DocIds{20})) << "words of others find it";
  EXPECT_EQ(Found("title:qsort"), (DocIds{}));
}

TEST_F(SearcherTest, NothingToSearchForIsAnExactNothing) {
  for (const char* text : {"", "   ", "&&", "-map", "-map -site:x", "unheardof", "map unheardof",
                           "\"map unheardof\"", "site:unheardof"}) {
    EXPECT_EQ(Search(text), (SearchResult{.hits = {}, .total = 0, .total_is_exact = true})) << text;
  }
}

TEST_F(SearcherTest, StopWordsAloneAreSearchedFor) {
  EXPECT_EQ(Found("the"), (DocIds{30}));
  EXPECT_EQ(Found("a"), (DocIds{10, 20, 30}));
}

TEST_F(SearcherTest, TitleCountsMoreThanBodyAndRankDecidesBetweenEquals) {
  const SearchResult result = Search("hash");
  EXPECT_EQ(result.hits[0].doc_id, 10U) << "the only one with the word in its title";
  auto documents = FourDocuments();
  documents[2] = documents[1];
  documents[2].doc_id = 30;
  documents[2].static_rank = 1;
  Build(documents, {});
  EXPECT_EQ(Search("vector").hits[0].doc_id, 30U);
}

TEST_F(SearcherTest, EqualScoresAreInOrderOfDocId) {
  std::vector<TestDocument> documents(300);
  for (size_t i = 0; i < documents.size(); ++i) {
    documents[i].doc_id = 5 + 2 * i;
    documents[i].body = "same words";
  }
  for (const size_t partition_count : {1, 3}) {
    Build(documents, {.partition_count = partition_count});
    for (const char* text : {"same", "same words", "same OR words", "\"same words\""}) {
      const SearchResult result = Search(text, {.k = 7});
      for (size_t i = 0; i < 7; ++i) EXPECT_EQ(result.hits[i].doc_id, 5 + 2 * i) << text;
    }
  }
}

TEST_F(SearcherTest, AThousandWordsAreAnswered) {
  Build(ZipfDocuments(2000, 9), {});
  std::string text = "w0";
  for (int i = 1; i < 1000; ++i) text += " OR w" + std::to_string(i);
  const auto query = ParseQuery(text, {.query_size_max = 1 << 16});
  ASSERT_TRUE(query.ok()) << query.status();
  const auto pruned = collection_->Search(*query, {.k = 20, .count_exactly = true});
  const auto exhaustive = collection_->Search(*query, {.k = 20, .exhaustive = true});
  ASSERT_TRUE(pruned.ok() && exhaustive.ok());
  EXPECT_EQ(pruned->hits, exhaustive->hits);
  EXPECT_EQ(pruned->total, exhaustive->total);
}

TEST_F(SearcherTest, TreesOverALimitAreRefused) {
  Build(ZipfDocuments(4000, 9), {});
  Query wide;
  wide.root.kind = QueryNode::Kind::kOr;
  for (int i = 0; i < 1500; ++i) {
    QueryNode& word = wide.root.children.emplace_back();
    word.kind = QueryNode::Kind::kTerm;
    word.term = "w" + std::to_string(i);
  }
  EXPECT_EQ(collection_->Search(wide, {}).status().code(), neptune::StatusCode::kInvalidArgument);
  Query deep;
  for (int i = 0; i < 1000; ++i) {
    QueryNode node;
    node.kind = QueryNode::Kind::kOr;
    node.children.push_back(std::move(deep.root));
    deep.root = std::move(node);
  }
  EXPECT_EQ(collection_->Search(deep, {}).status().code(), neptune::StatusCode::kInvalidArgument);
}

TEST_F(SearcherTest, StopGivesTheBestSoFarMarkedIncomplete) {
  Build(ZipfDocuments(30'000, 10), {});
  for (const char* text : {"w1 OR w2 OR w3", "w1 w2", "\"w1 w2\"", "w1 -w500", "(w1 OR w2) w3"}) {
    int polls = 0;
    SearchOptions options = {
        .k = 10, .count_exactly = true, .stop = [&polls] { return ++polls > 1; }};
    const SearchResult stopped = Search(text, options);
    EXPECT_FALSE(stopped.complete) << text;
    EXPECT_FALSE(stopped.total_is_exact);
    EXPECT_EQ(polls, 2) << text << ": not asked again once it said stop";
    options.stop = [] { return false; };
    const SearchResult whole = Search(text, options);
    EXPECT_TRUE(whole.complete && whole.total_is_exact);
    EXPECT_LE(stopped.total, whole.total);
  }
}

TEST_F(SearcherTest, SaysWhatItMayReadBeforeItReads) {
  Build(ZipfDocuments(5'000, 10), {});
  const auto expected = [&](const char* text) {
    uint64_t postings = 0;
    int polls = 0;
    const SearchOptions options = {.k = 10,
                                   .count_exactly = true,
                                   .stop = [&polls] { return ++polls < 0; },
                                   .expect =
                                       [&](uint64_t count) {
                                         EXPECT_EQ(polls, 0) << text;
                                         postings += count;
                                       }};
    Search(text, options);
    return postings;
  };
  const uint64_t frequent = Search("w1", {.count_exactly = true}).total;
  const uint64_t rare = Search("w300", {.count_exactly = true}).total;
  ASSERT_GT(frequent, 10 * rare);
  EXPECT_EQ(expected("w1"), frequent);
  EXPECT_EQ(expected("w1 OR w300"), frequent + rare);
  EXPECT_EQ(expected("w1 w300"), 2 * rare) << "the rare list, and a look into the other";
  EXPECT_EQ(expected("nosuchword"), 0U);
}

TEST_F(SearcherTest, StopIsPolledBeforeEachPrefix) {
  Build(ZipfDocuments(2'000, 10), {});
  for (const bool by_date : {false, true}) {
    int polls = 0;
    const SearchOptions options = {.k = 10,
                                   .count_exactly = true,
                                   .stop = [&polls] { return ++polls == 2; },
                                   .second_phase_count = 5,
                                   .by_date = by_date};
    const SearchResult stopped = Search("w1* OR w2* OR w3*", options);
    EXPECT_EQ(polls, 2) << "not asked again once it said stop";
    EXPECT_FALSE(stopped.complete || stopped.total_is_exact);
    EXPECT_TRUE(stopped.hits.empty());
    EXPECT_EQ(stopped.second_phase_count, 0U);
  }
}

TEST_F(SearcherTest, CountOnlyAndLimitsOfK) {
  EXPECT_EQ(Search("map OR vector", {.k = 0, .count_exactly = true}).total, 4U);
  EXPECT_EQ(Search("map OR vector", {.k = 0, .count_exactly = true}).hits.size(), 0U);
  EXPECT_EQ(Search("map", {.k = SIZE_MAX}).hits.size(), 3U);
}

// Queries in which one word occurs in several alternatives, some of which cannot match.
TEST_F(SearcherTest, RepeatedAlternativesScoreAsTheExhaustiveEvaluationDoes) {
  for (const std::string text :
       {"(map OR hash) map OR map", "map OR \"map absent\" OR (map -nowhere)",
        "(map OR keys) OR (map hash) OR map", "map (map OR hash) -(hash -hash)"}) {
    for (const bool count_exactly : {false, true}) {
      const SearchResult pruned = Search(text, {.k = 2, .count_exactly = count_exactly});
      const SearchResult plain = Search(text, {.k = 2, .exhaustive = true});
      ASSERT_EQ(pruned.hits.size(), plain.hits.size()) << text;
      for (size_t i = 0; i < plain.hits.size(); ++i) {
        EXPECT_EQ(pruned.hits[i].doc_id, plain.hits[i].doc_id) << text;
        EXPECT_EQ(pruned.hits[i].score, plain.hits[i].score) << text;
      }
      if (count_exactly) {
        EXPECT_EQ(pruned.total, plain.total) << text;
      }
    }
  }
}

TEST_F(SearcherTest, ManyThreadsMaySearch) {
  Build(ZipfDocuments(3000, 11), {});
  const SearchResult expected = Search("w1 OR w20 OR w300");
  std::vector<std::thread> threads;
  std::vector<SearchResult> results(4);
  for (SearchResult& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) result = Search("w1 OR w20 OR w300");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const SearchResult& result : results) EXPECT_EQ(result, expected);
}

TEST_F(SearcherTest, ImpossibleRankingIsRefused) {
  for (const float k1 : {0.0F, -1.0F, std::nanf("")}) {
    RankingOptions ranking;
    ranking.k1 = k1;
    EXPECT_EQ(Searcher::Create(collection_->segment(0), collection_->statistics(0), ranking)
                  .status()
                  .code(),
              neptune::StatusCode::kInvalidArgument);
  }
}

class StatisticsTest : public testing::Test {
 protected:
  std::string Build(const std::string& name, uint64_t first_doc_id) {
    const std::string folder = folder_.path() + "/" + name;
    auto builder = IndexBuilder::Create({.directory = folder});
    EXPECT_TRUE(builder.ok());
    for (uint64_t i = 0; i < 3; ++i) {
      const IndexedDocument document = {.doc_id = first_doc_id + i,
                                        .title = "title",
                                        .body = "body",
                                        .extra_text = "",
                                        .site = "",
                                        .static_rank = 0};
      EXPECT_TRUE((*builder)->Add(document).ok());
    }
    EXPECT_TRUE((*builder)->Finish().ok());
    return folder;
  }

  TemporaryFolder folder_;
};

TEST_F(StatisticsTest, AreThoseOfAllSegments) {
  const std::vector<std::string> folders = {Build("a", 1), Build("b", 10)};
  ASSERT_TRUE(ComputeGlobalStatistics(folders).ok());
  const auto segment = Segment::Open(folders[0]);
  const auto statistics = CollectionStatistics::Open(folders[0], **segment, {});
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  EXPECT_EQ((*statistics)->document_count(), 6U);
  EXPECT_EQ((*statistics)->mean_lengths(), (std::array<float, kFieldCount>{1, 1, 1}));
  for (const uint32_t frequency : (*statistics)->document_frequencies()) EXPECT_EQ(frequency, 6U);
}

TEST_F(StatisticsTest, OfAnotherSegmentAreRefused) {
  const std::vector<std::string> folders = {Build("a", 1), Build("b", 10)};
  ASSERT_TRUE(ComputeGlobalStatistics(folders).ok());
  const auto segment = Segment::Open(folders[0]);
  EXPECT_EQ(CollectionStatistics::Open(folders[1], **segment, {}).status().code(),
            neptune::StatusCode::kDataLoss);
}

TEST_F(StatisticsTest, RebuiltSegmentLosesItsOldStatistics) {
  const std::string folder = Build("a", 1);
  ASSERT_TRUE(ComputeGlobalStatistics({folder}).ok());
  Build("a", 5);
  const auto segment = Segment::Open(folder);
  EXPECT_EQ(CollectionStatistics::Open(folder, **segment, {}).status().code(),
            neptune::StatusCode::kNotFound);
}

TEST_F(StatisticsTest, DocumentInTwoSegmentsIsRefused) {
  EXPECT_EQ(ComputeGlobalStatistics({Build("a", 1), Build("b", 3)}).code(),
            neptune::StatusCode::kInvalidArgument);
}

TEST_F(StatisticsTest, DamagedSegmentIsDataLoss) {
  const std::string folder = Build("a", 1);
  const auto size = std::filesystem::file_size(folder + "/segment");
  std::fstream file(folder + "/segment", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size) - 1);
  file.put('\x7f');
  file.close();
  EXPECT_EQ(Segment::Open(folder).status().code(), neptune::StatusCode::kDataLoss);
  EXPECT_EQ(ComputeGlobalStatistics({folder}).code(), neptune::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace search::index
