#include "index/core/search/hit_collector.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "index/core/search/flat_query.h"

namespace search::index {
namespace {

constexpr uint32_t kDocuments = 300;

// Every document holds a and b; every third holds the phrase "a b".
bool HoldsPhrase(uint32_t ordinal) { return ordinal % 3 == 0; }

class HitCollectorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::vector<TestDocument> documents;
    for (uint32_t i = 0; i < kDocuments; ++i) {
      documents.push_back({.doc_id = i + 1, .title = "t", .body = HoldsPhrase(i) ? "a b" : "b a"});
    }
    collection_ = TestCollection::Build(documents, {})->release();
  }
  static void TearDownTestSuite() { delete collection_; }

  static HitCollector Make(FlatQuery& query, bool checks_all, TopKQueue* queue) {
    return {PhraseGroup(query.plan(), &query.words(), query.evaluation()),
            AlternativesCheck(query.plan(), &query.words(), query.evaluation()), checks_all,
            query.evaluation(), queue};
  }
  static std::vector<uint32_t> Ordinals(TopKQueue& queue) {
    std::vector<uint32_t> ordinals;
    for (const TopKQueue::Entry& entry : queue.Take()) ordinals.push_back(entry.ordinal);
    return ordinals;
  }

  static inline TestCollection* collection_ = nullptr;
};

TEST_F(HitCollectorTest, PassesDocumentsOnAtOnceIfThereIsNoPhrase) {
  FlatQuery query(*collection_, "+a +b");
  TopKQueue queue(2, /*prune=*/true);
  HitCollector hits = Make(query, false, &queue);
  hits.Offer(4, 1000);
  hits.Offer(5, 3000);
  hits.Offer(6, 2000);
  hits.CountMatches(3);
  EXPECT_EQ(hits.least(), queue.required());
  EXPECT_EQ(Ordinals(queue), (std::vector<uint32_t>{5, 6}));
  EXPECT_EQ(hits.outcome().matched, 3U);
}

TEST_F(HitCollectorTest, PassesOnlyDocumentsThatHoldThePhrase) {
  for (const uint32_t step : {1, 299}) {  // units fall, or rise, with the ordinal
    FlatQuery query(*collection_, "\"a b\"");
    TopKQueue queue(3, /*prune=*/true);
    HitCollector hits = Make(query, false, &queue);
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < kDocuments; ++i) {
      const uint32_t rank = i * step % kDocuments;
      hits.Offer(i, 100'000 - rank * 100);
    }
    hits.CheckPending();
    for (uint32_t rank = 0; expected.size() < 3; ++rank) {
      const uint32_t ordinal = rank * step % kDocuments;  // 299 is its own inverse
      if (HoldsPhrase(ordinal)) expected.push_back(ordinal);
    }
    EXPECT_EQ(Ordinals(queue), expected) << step;
    EXPECT_TRUE(hits.outcome().pruned);
  }
}

TEST_F(HitCollectorTest, ChecksEveryDocumentIfAllAreToBeCounted) {
  FlatQuery query(*collection_, "\"a b\"");
  TopKQueue queue(3, /*prune=*/true);
  HitCollector hits = Make(query, true, &queue);
  for (uint32_t i = 0; i < kDocuments; ++i) hits.Offer(i, 100'000 - i);
  hits.CheckPending();
  EXPECT_EQ(hits.least(), 0U);
  EXPECT_EQ(hits.outcome().matched, kDocuments / 3);
  EXPECT_FALSE(hits.outcome().pruned);
}

// Every document holds a and b, the lead of the phrase being one of them.
TEST_F(HitCollectorTest, PassesDocumentsThatHoldAnAlternative) {
  FlatQuery query(*collection_, "\"a b\" OR \"b b\"");
  ASSERT_EQ(query.plan().any_of.phrases.size(), 2U);
  TopKQueue queue(kDocuments, /*prune=*/true);
  HitCollector hits = Make(query, false, &queue);
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < kDocuments; ++i) {
    hits.Offer(i, 1000 + i);
    if (HoldsPhrase(i)) expected.insert(expected.begin(), i);
  }
  hits.CountMatches(kDocuments);
  hits.CheckPending();
  EXPECT_EQ(Ordinals(queue), expected);
  EXPECT_EQ(hits.outcome().matched, expected.size());
  EXPECT_FALSE(hits.outcome().pruned);
}

TEST_F(HitCollectorTest, AnAlternativeWordNeedsNoPhrase) {
  FlatQuery query(*collection_, "t OR \"a b\"");
  TopKQueue queue(2, /*prune=*/true);
  HitCollector hits = Make(query, false, &queue);
  hits.Offer(1, 1000);  // has no phrase, but the title
  hits.CheckPending();
  EXPECT_EQ(Ordinals(queue), (std::vector<uint32_t>{1}));
}

}  // namespace
}  // namespace search::index
