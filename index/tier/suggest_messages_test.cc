#include "index/tier/suggest_messages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "index/suggest/spelling.h"

namespace search::index {
namespace {

// One word, and a pair of a word that there is not.
TEST(SuggestMessagesTest, PairOfNoWordIsLeftOut) {
  SpellAnswer answer;
  answer.add_words()->set_document_count(3);
  for (const uint32_t index : {0u, 1u, UINT32_MAX}) {
    WordPairMessage* const pair = answer.add_pairs();
    pair->set_index(index);
    pair->set_left("hash");
    pair->set_right("table");
    pair->set_document_count(3);
  }
  const Spellings spellings = FromMessage(answer);
  ASSERT_EQ(spellings.pairs.size(), 1u);
  EXPECT_EQ(spellings.pairs[0].index, 0u);
}

// Found by a fuzzer: `index` is 2^32 - 1 in an answer without words.
TEST(SuggestMessagesTest, PairAtTheEndOfNumbersIsComposedToNothing) {
  const std::string bytes("\x1a\x15\x08\xff\xff\xff\xff\x0f\x12\x04hash\x1a\x05table\x20\x03", 23);
  SpellAnswer answer;
  ASSERT_TRUE(answer.ParseFromString(bytes));
  ASSERT_EQ(answer.pairs(0).index(), UINT32_MAX);
  const std::vector<SpelledWord> words = WordsToSpell("hash table");
  EXPECT_TRUE(ComposeSpellings("hash table", words, FromMessage(answer), 4).empty());
}

TEST(SuggestMessagesTest, AnswerOfAnySizeBecomesNoMoreThanADictionaryGives) {
  SpellAnswer answer;
  for (int i = 0; i < 40; ++i) {
    WordSpellingsMessage* const word = answer.add_words();
    for (int j = 0; j < 1000; ++j) word->add_others()->set_folded("w" + std::to_string(j));
    for (int j = 0; j < 1000; ++j) word->add_splits()->set_left("w" + std::to_string(j));
  }
  for (int i = 0; i < 10'000; ++i) answer.add_pairs()->set_index(0);
  const Spellings spellings = FromMessage(answer);
  EXPECT_EQ(spellings.words.size(), kSpelledWordsMax);
  EXPECT_EQ(spellings.words[0].others.size(), kSpellingsPerWord);
  EXPECT_EQ(spellings.words[0].splits.size(), kSplitsPerWord);
  EXPECT_LE(spellings.pairs.size(), 2000u);
}

TEST(SuggestMessagesTest, SpellingsComeBack) {
  Spellings spellings;
  spellings.collection_document_count = 9;
  spellings.words.resize(2);
  spellings.words[0] = {
      .document_count = 1,
      .others = {{.folded = "hash", .text = "hash", .document_count = 4, .distance = 1}},
      .splits = {{.left = "ha", .right = "sh", .pair_count = 1, .left_count = 2, .right_count = 3}},
      .joined_count = 5};
  spellings.pairs = {{.index = 0, .left = "hash", .right = "table", .document_count = 2}};
  EXPECT_EQ(FromMessage(ToMessage(spellings)), spellings);
}

}  // namespace
}  // namespace search::index
