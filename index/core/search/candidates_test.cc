#include "index/core/search/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "index/core/search/flat_query.h"

namespace search::index {
namespace {

// In 20,000 documents the lists of w0 to w5 are dense, those of w600 to w800 are not, and that of
// w2000 is not in the impact table.
class CandidatesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    collection_ = TestCollection::Build(ZipfDocuments(20'000, 1), {})->release();
  }
  static void TearDownTestSuite() { delete collection_; }

  static std::map<uint32_t, ScoreUnits> Contents(const Candidates& candidates) {
    std::map<uint32_t, ScoreUnits> contents;
    for (size_t i = 0; i < candidates.count(); ++i) {
      if (i > 0) {
        EXPECT_LT(candidates.ordinals()[i - 1], candidates.ordinals()[i]);
      }
      contents[candidates.ordinals()[i]] = candidates.units()[i];
    }
    return contents;
  }

  static inline TestCollection* collection_ = nullptr;
};

TEST_F(CandidatesTest, AddedListsAreMergedAndTheirUnitsSummed) {
  FlatQuery query(*collection_, "w700 OR w800 OR w2000");
  QueryWords::Decode(query.words().alternatives());
  Candidates candidates(query.evaluation());
  std::map<uint32_t, ScoreUnits> expected;
  for (const WordList* list : query.words().alternatives()) {
    candidates.Add(*list);
    for (size_t i = 0; i < list->ordinals().size(); ++i) {
      expected[list->ordinals()[i]] += list->units()[i];
    }
  }
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(Contents(candidates), expected);
}

TEST_F(CandidatesTest, WordsHaveTheListsThatTheseTestsNeed) {
  FlatQuery query(*collection_, "w0 OR w5 OR w600 OR w700 OR w800 OR w2000");
  std::string dense;
  std::string in_table;
  for (const WordList* list : query.words().alternatives()) {
    dense += list->is_dense() ? 'd' : '-';
    in_table += query.space().impacts.Find(list->entry()) != nullptr ? 't' : '-';
  }
  EXPECT_EQ(dense, "dd----");
  EXPECT_EQ(in_table, "ttttt-");
}

TEST_F(CandidatesTest, KeepLeavesTheDocumentsInAListOrTheOthers) {
  for (const std::string other : {"w0", "w5", "w600", "w2000"}) {
    for (const bool wanted : {true, false}) {
      FlatQuery query(*collection_, "w700 OR " + other);
      WordList* const lead = query.words().list(0);
      WordList* const filter = query.words().list(1);
      QueryWords::Decode(query.words().alternatives());
      Candidates candidates(query.evaluation());
      candidates.Add(*lead);
      candidates.Keep(filter, wanted);
      std::map<uint32_t, ScoreUnits> expected;
      for (const uint32_t ordinal : lead->ordinals()) {
        if (Holds(*filter, ordinal) != wanted) continue;
        expected[ordinal] = UnitsOf(*lead, ordinal);
        // The units of a dense list are added when the candidates are scored.
        if (!filter->is_dense()) expected[ordinal] += UnitsOf(*filter, ordinal);
      }
      EXPECT_EQ(Contents(candidates), expected) << other << ", wanted " << wanted;
    }
  }
}

TEST_F(CandidatesTest, FilterLeavesTheDocumentsThatMatch) {
  FlatQuery query(*collection_, "+w700 +w1 (w5 OR w800) -w2");
  const QueryWords& words = query.words();
  for (const QueryWords::Lists lists : {words.required(), words.alternatives()}) {
    QueryWords::Decode(lists);
  }
  Candidates candidates(query.evaluation());
  candidates.Add(*words.required()[0]);
  candidates.Filter(words);
  std::vector<uint32_t> expected;
  for (uint32_t ordinal = 0; ordinal < query.evaluation()->document_count(); ++ordinal) {
    const auto holds = [=](const WordList* list) { return Holds(*list, ordinal); };
    const auto all = [&](QueryWords::Lists lists) {
      return std::all_of(lists.begin(), lists.end(), holds);
    };
    const auto any = [&](QueryWords::Lists lists) {
      return std::any_of(lists.begin(), lists.end(), holds);
    };
    if (all(words.required()) && any(words.alternatives()) && !any(words.excluded())) {
      expected.push_back(ordinal);
    }
  }
  EXPECT_FALSE(expected.empty());
  const uint32_t* const ordinals = candidates.ordinals();
  EXPECT_EQ(std::vector<uint32_t>(ordinals, ordinals + candidates.count()), expected);
}

}  // namespace
}  // namespace search::index
