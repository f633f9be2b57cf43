#include "index/suggest/spelling.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "index/suggest/close_words.h"
#include "index/suggest/test_suggestions.h"

namespace search::index {
namespace {

TEST(EditDistanceTest, CountsEdits) {
  EXPECT_EQ(EditDistance("", "ab"), 2u);
  EXPECT_EQ(EditDistance("hash", "hash"), 0u);
  EXPECT_EQ(EditDistance("hash", "hahs"), 1u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("привет", "превет"), 1u);
}

// A small library about programs and kitchens.
std::vector<TestDocument> Library() {
  std::vector<std::pair<std::string, std::string>> texts;
  const auto say = [&](int times, const std::string& text) {
    for (int i = 0; i < times; ++i) texts.push_back({"", text});
  };
  say(60, "a hash map holds keys");
  say(30, "the hashtable holds values");
  say(40, "list comprehension in python");
  say(20, "café au lait in são paulo");
  say(25, "the neural network learns");
  say(50, "from here to there");
  say(3, "the form of a letter");
  say(12, "network socket");
  texts.push_back({"Fourier Transform", "the fast transform"});
  return DocumentsSaying(texts);
}

class SpellingTest : public testing::Test {
 protected:
  static std::string Spell(const std::string& query) {
    static const TestSuggestions& suggestions = *new TestSuggestions(Library(), {});
    return suggestions.Spell(query);
  }
};

TEST_F(SpellingTest, SlipsArePutRight) {
  EXPECT_EQ(Spell("pyhton"), "python");
  EXPECT_EQ(Spell("comprehnsion"), "comprehension");
  EXPECT_EQ(Spell("compprehenssion"), "comprehension");
  EXPECT_EQ(Spell("netwrok"), "network");
  EXPECT_EQ(Spell("fuorier transfrom"), "fourier transform");
}

TEST_F(SpellingTest, WordsThatAreSaidStayAsTheyAre) {
  EXPECT_EQ(Spell("python"), "");
  EXPECT_EQ(Spell("hash map"), "");
  EXPECT_EQ(Spell("form"), "") << "not 16 times rarer than from for one error";
}

TEST_F(SpellingTest, RestOfTheQueryStaysAsTyped) {
  EXPECT_EQ(Spell("\"Nueral  network\" -sokcet title:pyhton"),
            "\"neural  network\" -sokcet title:python");
  EXPECT_EQ(Spell("site:pyhton.org comprehnsion"), "site:pyhton.org comprehension");
  EXPECT_EQ(Spell("pyhton OR hahs"), "python OR hash");
}

TEST_F(SpellingTest, WordsAreSplitAndJoined) {
  EXPECT_EQ(Spell("hashmap"), "hash map");
  EXPECT_EQ(Spell("neuralnetwork learns"), "neural network learns");
  EXPECT_EQ(Spell("com prehension"), "comprehension");
}

TEST_F(SpellingTest, TheSurfaceKeepsItsAccents) {
  EXPECT_EQ(Spell("cafee"), "café");
  EXPECT_EQ(Spell("sao pualo"), "sao paulo");
}

TEST_F(SpellingTest, NeighboursDecide) {
  const TestSuggestions suggestions(DocumentsSaying([] {
                                      std::vector<std::pair<std::string, std::string>> texts;
                                      for (int i = 0; i < 40; ++i)
                                        texts.push_back({"", "polish the car. grand"});
                                      for (int i = 0; i < 30; ++i)
                                        texts.push_back({"", "a credit card. grand"});
                                      return texts;
                                    }()),
                                    {});
  EXPECT_EQ(suggestions.Spell("caro"), "car");
  EXPECT_EQ(suggestions.Spell("credit carx"), "credit card");
}

TEST_F(SpellingTest, LongQuestionsAreSpelled) {
  EXPECT_EQ(Spell("a hash map holds the keys and the values from here to there in pyhton list"),
            "a hash map holds the keys and the values from here to there in python list");
}

TEST_F(SpellingTest, EmptyQueryGetsNoProposal) {
  for (const char* query : {"", "   ", "zzzzzzzzzz", "12345", "x", "-pyhton", "!!!"}) {
    EXPECT_EQ(Spell(query), "") << query;
  }
  std::string long_query;
  for (int i = 0; i < 40; ++i) long_query += "pyhton ";
  EXPECT_EQ(Spell(long_query), "");
  EXPECT_EQ(Spell(std::string(3000, 'a')), "");
}

TEST_F(SpellingTest, DigitsAndSignsStay) {
  const TestSuggestions suggestions(
      DocumentsSaying(std::vector<std::pair<std::string, std::string>>(
          40, {"", "the pep8 and pep7, utf-8; c++ c# python3 main"})),
      {});
  EXPECT_EQ(suggestions.Spell("pep8"), "");
  EXPECT_EQ(suggestions.Spell("pep9"), "") << "another number is another thing";
  EXPECT_EQ(suggestions.Spell("pepp8"), "pep8");
  EXPECT_EQ(suggestions.Spell("pyhton3"), "python3");
  EXPECT_EQ(suggestions.Spell("pyhton2"), "");
  EXPECT_EQ(suggestions.Spell("a++"), "");
}

TEST_F(SpellingTest, AccentsThatWereTypedStay) {
  const TestSuggestions suggestions(
      DocumentsSaying(std::vector<std::pair<std::string, std::string>>(
          40, {"", "a case of cakes and a naïve résumé"})),
      {});
  EXPECT_EQ(suggestions.Spell("cafe"), "case");
  EXPECT_EQ(suggestions.Spell("café"), "");
  EXPECT_EQ(suggestions.Spell("naïv"), "naïve");
  EXPECT_EQ(suggestions.Spell("resumee"), "résumé");
}

TEST_F(SpellingTest, KnownWordsBecomeAnotherOnlyIfLongAndHardlyKnown) {
  std::vector<std::pair<std::string, std::string>> texts(300,
                                                         {"", "receive a case of the connection"});
  texts.push_back({"", "recieve the cafe conection"});
  texts.push_back({"", "recieve the cafe"});
  const TestSuggestions suggestions(DocumentsSaying(texts), {});
  EXPECT_EQ(suggestions.Spell("recieve"), "receive");
  EXPECT_EQ(suggestions.Spell("conection"), "connection");
  EXPECT_EQ(suggestions.Spell("cafe"), "") << "two documents hold it, and it is short";
}

bool IsSure(const TestSuggestions& suggestions, const std::string& query) {
  const auto words = WordsToSpell(query);
  const auto spelled =
      ComposeSpellings(query, words, FindSpellings(suggestions.dictionary(), words), 1);
  EXPECT_EQ(spelled.size(), 1u) << query;
  return !spelled.empty() && spelled[0].is_sure;
}

TEST_F(SpellingTest, SmallChangesOfUnknownWordsAreSure) {
  std::vector<std::pair<std::string, std::string>> texts(
      300, {"", "receive dummy packets of a database connection"});
  texts.push_back({"", "recieve"});
  const TestSuggestions suggestions(DocumentsSaying(texts), {});
  EXPECT_TRUE(IsSure(suggestions, "conection"));
  EXPECT_TRUE(IsSure(suggestions, "databaes conection"));
  EXPECT_TRUE(IsSure(suggestions, "connectoinn")) << "two errors in a long word";
  EXPECT_FALSE(IsSure(suggestions, "dumpyy")) << "two errors in a short one";
  EXPECT_FALSE(IsSure(suggestions, "rummy")) << "another first letter";
  EXPECT_FALSE(IsSure(suggestions, "recieve")) << "a document has it";
  EXPECT_FALSE(IsSure(suggestions, "recieve conection")) << "one of the changes is not";
}

TEST_F(SpellingTest, WordsThatCallersDoNotDoubtStay) {
  const std::string query = "pyhton comprehnsion";
  static const TestSuggestions& suggestions = *new TestSuggestions(Library(), {});
  auto words = WordsToSpell(query);
  words[0].may_change = false;
  const auto spelled =
      ComposeSpellings(query, words, FindSpellings(suggestions.dictionary(), words), 1);
  ASSERT_EQ(spelled.size(), 1u);
  EXPECT_EQ(spelled[0].text, "pyhton comprehension");
}

TEST(WordsToSpellTest, OperatorsFieldsExclusionsAndPrefixesAreNeitherChangedNorJoined) {
  const auto words = WordsToSpell("java script -java script site:x script pyth*");
  ASSERT_EQ(words.size(), 8u);
  const std::vector<std::pair<bool, bool>> expected = {
      {true, false},   // java
      {true, true},    // script
      {false, false},  // -java
      {true, false},   // script
      {false, false},  // site
      {false, false},  // x
      {true, false},   // script
      {false, false},  // pyth*
  };
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(words[i].may_change, expected[i].first) << words[i].folded;
    EXPECT_EQ(words[i].may_join, expected[i].second) << words[i].folded;
  }
}

}  // namespace
}  // namespace search::index
