// Tests both ranking phases together, as a searcher runs them.

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "index/core/builder/postings_importer.h"
#include "index/core/search/global_statistics.h"
#include "index/core/search/searcher.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

Query Parsed(const std::string& text) {
  auto query = ParseQuery(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return *query;
}

std::unique_ptr<TestCollection> Build(const std::vector<TestDocument>& documents) {
  auto collection = TestCollection::Build(documents, {});
  EXPECT_TRUE(collection.ok()) << collection.status();
  return std::move(*collection);
}

// The same words and lengths at other positions.
std::vector<TestDocument> PlacesOnly() {
  return {{.doc_id = 1, .body = "map a b c d e f g h i hash"},
          {.doc_id = 2, .body = "a b c d hash map e f g h i"},
          {.doc_id = 3, .body = "hash map a b c d e f g h i"},
          {.doc_id = 4, .body = "a b c d e f g h i j k"}};
}

std::vector<uint64_t> Ids(const SearchResult& result) {
  std::vector<uint64_t> ids;
  for (const Hit& hit : result.hits) ids.push_back(hit.doc_id);
  return ids;
}

SearchResult Search(const TestCollection& collection, const std::string& text,
                    const SearchOptions& options) {
  const auto result = collection.Search(Parsed(text), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : SearchResult();
}

TEST(TwoPhaseTest, PlacesDecideBetweenEqualFrequencies) {
  const auto collection = Build(PlacesOnly());
  EXPECT_EQ(Ids(Search(*collection, "hash map", {})), (std::vector<uint64_t>{1, 2, 3}));
  const SearchResult both = Search(*collection, "hash map", {.second_phase_count = 10});
  EXPECT_EQ(Ids(both), (std::vector<uint64_t>{3, 2, 1}));
  EXPECT_EQ(both.second_phase_count, 10U);
  EXPECT_FALSE(both.second_phase_lacks_positions);
  EXPECT_TRUE(both.complete && both.total_is_exact);
}

TEST(TwoPhaseTest, OnlySoManyAreRated) {
  const auto collection = Build(PlacesOnly());
  const SearchResult result = Search(*collection, "hash map", {.second_phase_count = 2});
  EXPECT_EQ(Ids(result), (std::vector<uint64_t>{2, 1, 3}));
  EXPECT_EQ(result.hits[2].gain, 0);
}

TEST(TwoPhaseTest, GivesAllThatAMergeNeeds) {
  const auto collection = Build(PlacesOnly());
  EXPECT_EQ(Search(*collection, "hash map", {.k = 1, .second_phase_count = 2}).hits.size(), 2U);
  EXPECT_EQ(Search(*collection, "hash map", {.k = 3, .second_phase_count = 2}).hits.size(), 3U);
}

TEST(TwoPhaseTest, NothingToRateIsRated) {
  const auto collection = Build(PlacesOnly());
  for (const char* text : {"", "-hash", "nowhere", "hash nowhere"}) {
    const SearchResult result = Search(*collection, text, {.second_phase_count = 7});
    EXPECT_TRUE(result.hits.empty()) << text;
    EXPECT_EQ(result.second_phase_count, 7U) << text;
  }
  EXPECT_EQ(Search(*collection, "hash", {.k = 0, .second_phase_count = 7}).hits.size(), 0U);
}

TEST(TwoPhaseTest, StoppedGivesTheOrderOfTheFirstPhaseAndSaysSo) {
  const auto collection = Build(ZipfDocuments(3000, 21));
  const Query query = Parsed("w1 OR w2 OR w3 OR w4");
  int polls = 0;
  SearchOptions options = {.k = 30, .stop = [&polls] { return ++polls < 0; }};
  const SearchResult first = *collection->Search(query, options);
  const int first_polls = polls;
  options.second_phase_count = 1000;
  polls = 0;
  const SearchResult both = *collection->Search(query, options);
  ASSERT_GT(polls, first_polls + 2);
  EXPECT_NE(Ids(both), Ids(first));
  const int last_poll = polls;
  polls = 0;
  options.stop = [&] { return ++polls == last_poll; };
  const SearchResult stopped = *collection->Search(query, options);
  EXPECT_FALSE(stopped.complete);
  EXPECT_EQ(stopped.second_phase_count, 0U);
  for (size_t i = 0; i < first.hits.size(); ++i) {
    EXPECT_EQ(stopped.hits[i], first.hits[i]) << "hit " << i;
  }
}

TEST(TwoPhaseTest, WithoutPositionsTheTitleIsLeft) {
  TemporaryFolder folder;
  const auto importer = *PostingsImporter::Create(folder.path());
  ASSERT_TRUE(importer->AddPosting("cat", 0, 3).ok());
  ASSERT_TRUE(importer->AddPosting("cat", 1, 1).ok());
  ASSERT_TRUE(importer->AddPosting("dog", 1, 2).ok());
  ASSERT_TRUE(importer->AddDocument(7, 3).ok());
  ASSERT_TRUE(importer->AddDocument(9, 3).ok());
  ASSERT_TRUE(importer->Finish().ok());
  ASSERT_TRUE(ComputeGlobalStatistics({folder.path()}).ok());
  const auto segment = *Segment::Open(folder.path());
  const auto statistics = *CollectionStatistics::Open(folder.path(), *segment, {});
  const auto searcher = *Searcher::Create(*segment, *statistics);
  const auto result = searcher->Search(Parsed("cat OR dog"), {.second_phase_count = 10});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->second_phase_lacks_positions);
  EXPECT_EQ(result->second_phase_count, 10U);
  const auto first = searcher->Search(Parsed("cat OR dog"), {});
  EXPECT_EQ(Ids(*result), Ids(*first));
  EXPECT_EQ(result->hits[0].lacks, 0U);
  EXPECT_EQ(result->hits[1].lacks, 0b10U);  // the dog
  const auto explanation = searcher->Explain(Parsed("cat OR dog"), 9);
  ASSERT_TRUE(explanation.ok()) << explanation.status();
  EXPECT_TRUE(explanation->lacks_positions);
  EXPECT_NE(ToText(*explanation).find("no positions"), std::string::npos);
}

TEST(TwoPhaseTest, WithoutPositionsAPhraseIsLeftOutOfAlternatives) {
  TemporaryFolder folder;
  const auto importer = *PostingsImporter::Create(folder.path());
  ASSERT_TRUE(importer->AddPosting("cat", 0, 3).ok());
  ASSERT_TRUE(importer->AddPosting("dog", 1, 2).ok());
  ASSERT_TRUE(importer->AddPosting("house", 1, 2).ok());
  ASSERT_TRUE(importer->AddDocument(7, 3).ok());
  ASSERT_TRUE(importer->AddDocument(9, 4).ok());
  ASSERT_TRUE(importer->Finish().ok());
  ASSERT_TRUE(ComputeGlobalStatistics({folder.path()}).ok());
  const auto segment = *Segment::Open(folder.path());
  const auto statistics = *CollectionStatistics::Open(folder.path(), *segment, {});
  const auto searcher = *Searcher::Create(*segment, *statistics);
  for (const bool exhaustive : {false, true}) {
    const auto result = searcher->Search(Parsed("cat OR \"dog house\"^0.5"),
                                         {.count_exactly = true, .exhaustive = exhaustive});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(Ids(*result), (std::vector<uint64_t>{7}));
    EXPECT_EQ(result->total, 1U);
    EXPECT_TRUE(result->phrase_is_left_out);
  }
  EXPECT_FALSE(searcher->Search(Parsed("cat OR dog"), {})->phrase_is_left_out);
  // What only phrases can find is refused.
  for (const char* text :
       {"\"dog house\"", "\"dog house\" OR \"cat house\"", "cat \"dog house\""}) {
    EXPECT_EQ(searcher->Search(Parsed(text), {}).status().code(),
              neptune::StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(TwoPhaseTest, ImpossibleWeightsAreRefused) {
  const auto collection = Build(PlacesOnly());
  const SecondPhaseWeights weights = {.lead = std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(collection->Search(Parsed("hash"), {.second_phase = weights}).status().code(),
            neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(collection->searcher(0).Explain(Parsed("hash"), 1, weights).status().code(),
            neptune::StatusCode::kInvalidArgument);
}

TEST(TwoPhaseTest, ExplanationsHaveTheGainOfEachHit) {
  const std::vector<TestDocument> documents = ZipfDocuments(800, 5);
  const auto collection = Build(documents);
  std::mt19937_64 random(32);
  size_t gained = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string text = RandomQuery(documents, [&random] { return random(); });
    const SearchResult result = Search(*collection, text, {.k = 5, .second_phase_count = 5});
    for (const Hit& hit : result.hits) {
      const auto made = collection->searcher(0).Explain(Parsed(text), hit.doc_id);
      ASSERT_TRUE(made.ok()) << made.status();
      ASSERT_EQ(ToScore(made->gain.units()), hit.gain) << text << " document " << hit.doc_id;
      gained += hit.gain > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(gained, 200U);
}

TEST(TwoPhaseTest, AQueryOfManyWordsIsRatedByItsFirst) {
  const auto collection = Build(ZipfDocuments(500, 6));
  std::string text = "w0";
  for (int i = 1; i < 1000; ++i) text += " OR w" + std::to_string(i);
  const auto query = ParseQuery(text, {.query_size_max = 1 << 16});
  ASSERT_TRUE(query.ok()) << query.status();
  const auto result = collection->Search(*query, {.k = 20, .second_phase_count = 50});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->hits.size(), 50U);
  EXPECT_EQ(result->second_phase_count, 50U);
}

}  // namespace
}  // namespace search::index
