#include "frontend/suggest/suggest_policy.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using Parts = std::vector<TypedPart>;

TEST(SuggestPolicyTest, EverySuffixMayBeAPhrase) {
  EXPECT_EQ(PartsToComplete("Hash Ta"), (Parts{{"", "hash ta"}, {"Hash ", "ta"}}));
  EXPECT_EQ(PartsToComplete("caf\u00e9 "), (Parts{{"", "cafe "}}));
  EXPECT_EQ(PartsToComplete(" std::vec"), (Parts{{" ", "std vec"}}));
  EXPECT_TRUE(PartsToComplete("").empty());
  EXPECT_TRUE(PartsToComplete("  ").empty());
  EXPECT_TRUE(PartsToComplete("\"hash\"").empty());
}

TEST(SuggestPolicyTest, LongTextsKeepTheWholeAndTheShortestSuffixes) {
  const Parts parts = PartsToComplete("a b c d e f");
  ASSERT_EQ(parts.size(), kTypedPartsMax);
  EXPECT_EQ(parts[0].prefix, "a b c d e f");
  EXPECT_EQ(parts[1].prefix, "d e f");
  EXPECT_EQ(parts[3], (TypedPart{"a b c d e ", "f"}));
  EXPECT_TRUE(PartsToComplete(std::string(100, 'x')).size() == 1);
  std::string many;
  for (int i = 0; i < 40; ++i) many += "w ";
  EXPECT_TRUE(PartsToComplete(many).empty());
}

TEST(SuggestPolicyTest, PunctuationAndOperatorsEndAPhrase) {
  EXPECT_EQ(PartsToComplete("-java lis"), (Parts{{"-java ", "lis"}}));
  EXPECT_EQ(PartsToComplete("java OR lis"), (Parts{{"java OR ", "lis"}}));
  EXPECT_EQ(PartsToComplete("\"hash ta"), (Parts{{"\"", "hash ta"}, {"\"hash ", "ta"}}));
  EXPECT_EQ(PartsToComplete("\"a b\" hash"), (Parts{{"\"a b\" ", "hash"}}));
  EXPECT_TRUE(PartsToComplete("-jav").empty());
  EXPECT_TRUE(PartsToComplete("java OR").empty());
}

index::SuggestAnswer Answer(const std::vector<std::pair<std::string, uint32_t>>& texts) {
  index::SuggestAnswer answer;
  for (const auto& [text, prefix_index] : texts) {
    index::Suggestion* const suggestion = answer.add_suggestions();
    suggestion->set_text(text);
    suggestion->set_prefix_index(prefix_index);
  }
  return answer;
}

TEST(SuggestPolicyTest, OnlyPhrasesAfterOtherWordsAreUncertain) {
  const std::string typed = "numpy list comp";
  const auto candidates =
      MakeCandidates(typed, PartsToComplete(typed),
                     Answer({{"NumPy List Compiler", 0}, {"List comprehension", 1}}));
  ASSERT_EQ(candidates.size(), 2u);
  EXPECT_EQ(candidates[0].text, "NumPy List Compiler");
  EXPECT_TRUE(candidates[0].is_certain);
  EXPECT_EQ(candidates[1].text, "numpy List comprehension");
  EXPECT_FALSE(candidates[1].is_certain);
}

TEST(SuggestPolicyTest, EquivalentQueriesAreSuggestedOnce) {
  const auto candidates = MakeCandidates("window function", PartsToComplete("window function"),
                                         Answer({{"Window functions", 0},
                                                 {"window function", 0},
                                                 {"Window Functional Test", 0},
                                                 {"the window functional test", 0},
                                                 {"gone", 9}}));
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].text, "Window Functional Test");
}

}  // namespace
}  // namespace search::frontend
