#include "index/core/search/query_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "index/core/search/flat_query.h"
#include "index/core/segment/live_documents.h"

namespace search::index {
namespace {

// In 20,000 documents the lists of w0 to w5 are dense, those of w600 to w800 are not, and that of
// w2000 is not in the impact table.
class QueryWordsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::vector<TestDocument> documents = ZipfDocuments(20'000, 1);
    collection_ = TestCollection::Build(documents, {})->release();
    for (TestDocument& document : documents) document.static_rank = 0;
    unranked_ = TestCollection::Build(documents, {})->release();
  }
  static void TearDownTestSuite() {
    delete collection_;
    delete unranked_;
  }

  static std::vector<uint32_t> Frequencies(QueryWords::Lists lists) {
    std::vector<uint32_t> frequencies;
    for (const WordList* list : lists) frequencies.push_back(list->document_frequency());
    return frequencies;
  }
  static void DecodeAll(FlatQuery& query) {
    for (const QueryWords::Lists lists : {query.words().required(), query.words().alternatives(),
                                          query.words().optional(), query.words().excluded()}) {
      QueryWords::Decode(lists);
    }
  }
  static bool HoldsAll(QueryWords::Lists lists, uint32_t ordinal) {
    return std::all_of(lists.begin(), lists.end(),
                       [=](const WordList* list) { return Holds(*list, ordinal); });
  }
  static bool HoldsAny(QueryWords::Lists lists, uint32_t ordinal) {
    return std::any_of(lists.begin(), lists.end(),
                       [=](const WordList* list) { return Holds(*list, ordinal); });
  }
  // The units of each matching document, by ordinal; 0 for the others. REQUIRES: all are decoded.
  static std::vector<ScoreUnits> AllUnits(FlatQuery& query) {
    QueryWords& words = query.words();
    for (const QueryWords::Lists lists :
         {words.required(), words.alternatives(), words.optional(), words.excluded()}) {
      for (WordList* list : lists) list->Rewind();
    }
    std::vector<ScoreUnits> all(query.evaluation()->document_count(), 0);
    for (uint32_t ordinal = 0; ordinal < all.size(); ++ordinal) {
      const bool matches =
          HoldsAll(words.required(), ordinal) && !HoldsAny(words.excluded(), ordinal) &&
          (words.alternatives().empty() || HoldsAny(words.alternatives(), ordinal));
      if (!matches) continue;
      all[ordinal] = query.space().StaticRankUnits(ordinal);
      for (WordList* list : words.scoring()) all[ordinal] += UnitsOf(*list, ordinal);
    }
    return all;
  }

  static inline TestCollection* collection_ = nullptr;
  static inline TestCollection* unranked_ = nullptr;  // the same, but words alone make the scores
};

TEST_F(QueryWordsTest, ListsHaveTheirRolesWithTheRarestRequiredWordFirst) {
  FlatQuery query(*collection_, "+w1 +w700 +w5 (w2 OR w600) -w3");
  QueryWords& words = query.words();
  ASSERT_EQ(words.required().size(), 3u);
  const std::vector<uint32_t> frequencies = Frequencies(words.required());
  EXPECT_TRUE(std::is_sorted(frequencies.begin(), frequencies.end()));
  EXPECT_EQ(words.required()[0], words.list(1)) << "w700";
  EXPECT_EQ(words.alternatives().size(), 2u);
  ASSERT_EQ(words.excluded().size(), 1u);
  EXPECT_EQ(words.excluded()[0], words.list(5));
  EXPECT_EQ(words.scoring().size(), 5u) << "all but the excluded one";
}

TEST_F(QueryWordsTest, NoWordScoresIfDocumentsAreOnlyCounted) {
  FlatQuery query(*collection_, "+w1 +w700");
  const QueryWords words(query.plan(), /*scores=*/false, query.evaluation());
  EXPECT_EQ(words.required().size(), 2u);
  EXPECT_TRUE(words.scoring().empty());
}

TEST_F(QueryWordsTest, RarestIsSparseOnlyIfAWordIsRequired) {
  const auto is_sparse = [](const std::string& text) {
    return FlatQuery(*collection_, text).words().rarest_is_sparse();
  };
  EXPECT_TRUE(is_sparse("+w0 +w700"));
  EXPECT_FALSE(is_sparse("+w0 +w5"));
  EXPECT_FALSE(is_sparse("w700 OR w800"));
}

TEST_F(QueryWordsTest, DecodeLeavesDenseListsInPlace) {
  FlatQuery query(*collection_, "w0 OR w700");
  QueryWords::Decode(query.words().alternatives());
  EXPECT_TRUE(query.words().list(0)->ordinals().empty());
  EXPECT_EQ(query.words().list(1)->ordinals().size(), query.words().list(1)->document_frequency());
}

TEST_F(QueryWordsTest, ListsStartOverAfterARewind) {
  FlatQuery query(*collection_, "w700 OR w800");
  DecodeAll(query);
  WordList* const list = query.words().list(0);
  const uint32_t first_block = list->ordinals().front() / kDocumentBlockSize;
  const uint32_t last_block = list->ordinals().back() / kDocumentBlockSize;
  const WordList::Range first = list->InBlock(first_block);
  ASSERT_LT(first.begin, first.end);
  (void)list->InBlock(last_block);
  query.words().Rewind();
  const WordList::Range again = list->InBlock(first_block);
  EXPECT_EQ(again.begin, first.begin);
  EXPECT_EQ(again.end, first.end);
}

TEST_F(QueryWordsTest, AtLeastKDocumentsReachTheKnownBar) {
  int known_count = 0;
  for (const std::string text :
       {"w0 OR w700", "w5 OR w2000", "+w3", "+w2000", "w700 OR w800", "+w1 +w700", "+w0 (w1 OR w2)",
        "w0 OR w1 OR w2 OR w3", "+w700 -w0", "+w3 -w0 -w1", "(w700 OR w800) -w0"}) {
    FlatQuery query(*unranked_, text);
    DecodeAll(query);
    std::vector<ScoreUnits> units = AllUnits(query);
    std::sort(units.begin(), units.end(), std::greater<>());
    for (const size_t k : {1, 2, 10, 100, 1000, 20'000}) {
      const ScoreUnits bar = query.words().KnownBar(k);
      known_count += bar > 0 ? 1 : 0;
      EXPECT_GE(units[k - 1], bar) << text << ", k " << k;
    }
  }
  EXPECT_GT(known_count, 8) << "a bar that is never known saves nothing";
}

TEST_F(QueryWordsTest, KnownBarCountsNoDeletedDocuments) {
  FlatQuery all(*unranked_, "+w3");
  DecodeAll(all);
  std::vector<ScoreUnits> units = AllUnits(all);
  std::vector<ScoreUnits> ordered = units;
  std::sort(ordered.begin(), ordered.end(), std::greater<>());
  LiveDocuments live(all.evaluation()->document_count());
  for (uint32_t ordinal = 0; ordinal < units.size(); ++ordinal) {
    if (units[ordinal] > ordered[1000]) live.Delete(ordinal);
  }
  const std::function<bool()> stop;
  Evaluation evaluation(all.space(), &live, stop);
  const QueryWords words(all.plan(), /*scores=*/true, &evaluation);
  EXPECT_GT(all.words().KnownBar(10), ordered[1000]) << "otherwise the test shows nothing";
  EXPECT_LE(words.KnownBar(10), ordered[1000]);
}

TEST_F(QueryWordsTest, DocumentsThatEnterTheQueueHoldAnEssentialAlternative) {
  bool has_left_one_out = false;
  for (const size_t k : {1, 10, 100, 1000, 4000}) {
    FlatQuery query(*collection_, "w0 OR w1 OR w5 OR w700 OR w2000");
    DecodeAll(query);
    const std::vector<ScoreUnits> units = AllUnits(query);
    TopKQueue queue(k, /*prune=*/true);
    for (uint32_t ordinal = 0; ordinal < units.size(); ++ordinal) {
      if (units[ordinal] > 0) queue.Offer(ordinal, units[ordinal]);
    }
    const std::vector<WordList*> essential = query.words().EssentialAlternatives(queue);
    has_left_one_out |= essential.size() < query.words().alternatives().size();
    for (uint32_t ordinal = 0; ordinal < units.size(); ++ordinal) {
      if (units[ordinal] == 0 || !queue.CanEnter(units[ordinal])) continue;
      EXPECT_TRUE(HoldsAny(essential, ordinal)) << ordinal << ", k " << k;
    }
  }
  EXPECT_TRUE(has_left_one_out);
}

TEST_F(QueryWordsTest, EveryAlternativeIsEssentialWhileTheQueueIsNotFull) {
  FlatQuery query(*collection_, "w0 OR w700 OR w2000");
  DecodeAll(query);
  const TopKQueue queue(10, /*prune=*/true);
  EXPECT_EQ(query.words().EssentialAlternatives(queue).size(), 3u);
}

TEST_F(QueryWordsTest, AlternativesThatAreNotEssentialBecomeOptional) {
  FlatQuery query(*collection_, "w0 OR w700 OR w2000");
  QueryWords& words = query.words();
  const std::vector<WordList*> essential = {words.list(1)};
  words.MakeOptionalExcept(essential);
  EXPECT_EQ(std::vector<WordList*>(words.optional().begin(), words.optional().end()),
            (std::vector<WordList*>{words.list(0), words.list(2)}));
}

TEST_F(QueryWordsTest, IntersectionHasTheLiveDocumentsWithAllRequiredWords) {
  FlatQuery query(*collection_, "+w1 +w3 +w5");
  LiveDocuments live(query.evaluation()->document_count());
  for (uint32_t ordinal = 0; ordinal < live.document_count(); ordinal += 7) live.Delete(ordinal);
  const std::function<bool()> stop;
  for (const LiveDocuments* const some :
       {static_cast<const LiveDocuments*>(nullptr), static_cast<const LiveDocuments*>(&live)}) {
    Evaluation evaluation(query.space(), some, stop);
    const QueryWords words(query.plan(), /*scores=*/true, &evaluation);
    const std::vector<uint64_t> masks = words.IntersectRequired();
    int count = 0;
    for (uint32_t ordinal = 0; ordinal < live.document_count(); ++ordinal) {
      const bool expected =
          HoldsAll(words.required(), ordinal) && (some == nullptr || some->IsLive(ordinal));
      ASSERT_EQ(HoldsDocument(masks.data(), ordinal), expected) << ordinal;
      count += expected ? 1 : 0;
    }
    EXPECT_GT(count, 0);
  }
}

TEST_F(QueryWordsTest, ScoringListsAreOrderedByWhatTheyCanAddAndSparseOnesCanBeLeftOut) {
  FlatQuery query(*collection_, "w0 OR w700 OR w5 OR w2000 OR w1");
  DecodeAll(query);
  QueryWords& words = query.words();
  words.OrderScoring();
  ASSERT_EQ(words.scoring().size(), 5u);
  for (size_t i = 1; i < words.scoring().size(); ++i) {
    EXPECT_GE(words.scoring()[i - 1]->units_max(), words.scoring()[i]->units_max());
  }
  words.DropSparseScoring();
  EXPECT_EQ(words.scoring().size(), 3u);
  for (const WordList* list : words.scoring()) EXPECT_TRUE(list->is_dense());
}

}  // namespace
}  // namespace search::index
