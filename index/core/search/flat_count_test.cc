#include "index/core/search/flat_count.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "index/core/search/flat_query.h"
#include "index/core/search/match_counter.h"
#include "index/core/segment/live_documents.h"

namespace search::index {
namespace {

// In 20,000 documents the lists of w0 to w5 are dense, those of w600 to w800 are not, and that of
// w2000 is not in the impact table.
class FlatCountTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    collection_ = TestCollection::Build(ZipfDocuments(20'000, 1), {})->release();
  }
  static void TearDownTestSuite() { delete collection_; }

  static std::optional<uint64_t> Count(const std::string& text, const LiveDocuments* live) {
    FlatQuery query(*collection_, text);
    const std::function<bool()> stop;
    Evaluation evaluation(query.space(), live, stop);
    return CountFlat(query.plan(), &evaluation);
  }
  // Counts document by document.
  static uint64_t SlowCount(const std::string& text, const LiveDocuments* live) {
    FlatQuery query(*collection_, text);
    uint64_t count = 0;
    QueryWords& words = query.words();
    for (const QueryWords::Lists lists :
         {words.required(), words.alternatives(), words.excluded()}) {
      QueryWords::Decode(lists);
    }
    for (uint32_t ordinal = 0; ordinal < query.evaluation()->document_count(); ++ordinal) {
      bool matches = live == nullptr || live->IsLive(ordinal);
      for (const WordList* list : words.required()) matches = matches && Holds(*list, ordinal);
      for (const WordList* list : words.excluded()) matches = matches && !Holds(*list, ordinal);
      bool any = words.alternatives().empty();
      for (const WordList* list : words.alternatives()) any = any || Holds(*list, ordinal);
      count += matches && any ? 1 : 0;
    }
    return count;
  }
  // A third of the documents was deleted.
  static LiveDocuments TwoThirds() {
    LiveDocuments live(collection_->segment(0).document_count());
    for (uint32_t ordinal = 0; ordinal < live.document_count(); ordinal += 3) live.Delete(ordinal);
    return live;
  }

  static inline TestCollection* collection_ = nullptr;
};

TEST_F(FlatCountTest, RequiredWordsAreCountedExactly) {
  const LiveDocuments live = TwoThirds();
  for (const std::string text :
       {"+w0", "+w700", "+w2000", "+w0 +w3", "+w1 +w3 +w5", "+w0 +w700", "+w700 +w600",
        "+w700 +w2000", "+w1 -w3", "+w1 -w700", "+w1 +w2 -w2000 -w5", "+w700 -w0", "+w700 -w600",
        "+w700 (w0 OR w600)", "+w600 +w1 (w5 OR w700 OR w2000) -w2"}) {
    for (const LiveDocuments* const some : {static_cast<const LiveDocuments*>(nullptr), &live}) {
      const std::optional<uint64_t> count = Count(text, some);
      ASSERT_TRUE(count.has_value()) << text;
      EXPECT_EQ(*count, SlowCount(text, some)) << text << (some == nullptr ? "" : ", deleted");
    }
  }
}

TEST_F(FlatCountTest, UnionOfTwoWordsIsCountedExactly) {
  for (const std::string text :
       {"w0 OR w3", "w0 OR w700", "w700 OR w0", "w700 OR w600", "w600 OR w2000", "w2000 OR w1"}) {
    const std::optional<uint64_t> count = Count(text, nullptr);
    ASSERT_TRUE(count.has_value()) << text;
    EXPECT_EQ(*count, SlowCount(text, nullptr)) << text;
  }
}

TEST_F(FlatCountTest, OtherQueriesAreLeftToTheMatchCounter) {
  const LiveDocuments live = TwoThirds();
  EXPECT_EQ(Count("w0 OR w1 OR w700", nullptr), std::nullopt) << "more than two alternatives";
  EXPECT_EQ(Count("w0 OR w1", &live), std::nullopt) << "deleted documents";
  EXPECT_EQ(Count("+w0 (w1 OR w700)", nullptr), std::nullopt) << "many documents to filter";
}

TEST_F(FlatCountTest, CountIsThatOfTheMatchCounter) {
  for (const std::string text : {"+w1 +w3 -w700", "+w700 (w0 OR w600)", "w0 OR w700"}) {
    FlatQuery query(*collection_, text);
    const auto plan = MakeQueryPlan(*ParseQuery(text), collection_->segment(0));
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(CountFlat(query.plan(), query.evaluation()),
              CountMatches(plan->root, query.evaluation()))
        << text;
  }
}

}  // namespace
}  // namespace search::index
