#include "index/suggest/phrase_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "index/suggest/range_max.h"

namespace search::index {
namespace {

std::string Key(std::string_view text) { return PhraseKey(FoldWords(text, 100)); }

TEST(PhraseTextTest, KeysAreFoldedWords) {
  EXPECT_EQ(Key("Hash  Tables"), "hash tables");
  EXPECT_EQ(Key("São Paulo"), "sao paulo");
  EXPECT_EQ(Key("std::vector<int>"), "std vector int");
  EXPECT_EQ(Key("C++17 and C#"), "c++ 17 and c#");
  EXPECT_EQ(Key("検索API"), "検 索 api");
  EXPECT_EQ(Key(" … "), "");
}

TEST(PhraseTextTest, WordsKnowWhereTheyStand) {
  const auto words = FoldWords("\"São  -Paulo", 10);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0], (FoldedWord{"sao", 1, 5}));
  EXPECT_EQ(words[1], (FoldedWord{"paulo", 8, 13}));
  EXPECT_EQ(FoldWords("a b c d", 2).size(), 2u);
}

TEST(PhraseTextTest, LowerCaseKeepsAccents) {
  std::string text;
  AppendLowerCase("SÃO Straße\xFF!", &text);
  EXPECT_EQ(text, "são straße!");
}

TEST(PhraseTextTest, TrimmedTextHasSingleBlanksAndNothingThatCannotBeShown) {
  EXPECT_EQ(TrimmedText("  a\t\n b\x01\xC3( "), "a b(");
  EXPECT_EQ(TrimmedText(" \n"), "");
}

TEST(PhraseTextTest, PlainQueriesAskForAllTheirWordsOnly) {
  for (const char* text : {"hash map", "Python (programming language)", "std::vector", "C++",
                           "Rock-and-roll", "ANDROID ORB", "a - b"}) {
    EXPECT_TRUE(IsPlainQuery(text)) << text;
  }
  for (const char* text : {"this OR that", "foo NEAR bar", "foo -bar", "title:x", "site:python",
                           "NOT AND OR", "cats (x OR y)", "-"}) {
    EXPECT_FALSE(IsPlainQuery(text)) << text;
  }
}

TEST(RangeMaxTest, TheBestIsTheFirstOfTheLargest) {
  std::mt19937_64 random(7);
  for (const size_t count : {1u, 2u, 63u, 64u, 65u, 128u, 4095u, 4097u, 20'000u}) {
    std::vector<uint16_t> values(count);
    for (uint16_t& value : values) value = static_cast<uint16_t>(random() % 50);
    const std::vector<uint16_t> stored = RangeMax::WithLevels(values);
    const auto view = RangeMax::FromStored(stored, count);
    ASSERT_TRUE(view.has_value());
    for (int i = 0; i < 300; ++i) {
      const size_t begin = random() % count;
      const size_t end = begin + 1 + random() % (count - begin);
      const auto best = std::max_element(values.begin() + static_cast<ptrdiff_t>(begin),
                                         values.begin() + static_cast<ptrdiff_t>(end));
      ASSERT_EQ(view->Best(begin, end), static_cast<size_t>(best - values.begin()))
          << count << ": " << begin << " to " << end;
    }
  }
}

TEST(RangeMaxTest, LevelsOfAnotherSizeAreRefused) {
  std::vector<uint16_t> stored = RangeMax::WithLevels(std::vector<uint16_t>(1000, 1));
  EXPECT_TRUE(RangeMax::FromStored(stored, 1000).has_value());
  EXPECT_FALSE(RangeMax::FromStored(stored, 999).has_value());
  EXPECT_FALSE(RangeMax::FromStored(stored, 1001).has_value());
  stored.push_back(0);
  EXPECT_FALSE(RangeMax::FromStored(stored, 1000).has_value());
  EXPECT_FALSE(RangeMax::FromStored({}, 5).has_value());
}

}  // namespace
}  // namespace search::index
