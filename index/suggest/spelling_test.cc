#include "index/suggest/spelling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

std::string RandomWord(std::mt19937_64& random, size_t letters) {
  std::string word;
  const size_t size = 1 + random() % 9;
  for (size_t i = 0; i < size; ++i) {
    if (random() % 12 == 0) {
      word += "é";
    } else {
      word += static_cast<char>('a' + random() % letters);
    }
  }
  return word;
}

TEST(CloseWordsTest, TheyAreThoseOfAnExhaustiveComparison) {
  std::mt19937_64 random(3);
  std::vector<std::pair<std::string, std::string>> texts;
  for (int i = 0; i < 1500; ++i) texts.push_back({"", RandomWord(random, 4)});
  for (int i = 0; i < 40; ++i) texts.push_back({"", std::string(20 + i, 'a')});
  const TestSuggestions suggestions(DocumentsSaying(texts), {});
  const SuggestionIndex& index = suggestions.index(0);
  ASSERT_GT(index.word_count(), 700u);
  for (int i = 0; i < 400; ++i) {
    const std::string wanted =
        i % 20 == 0 ? std::string(25 + i / 20, 'a') : FoldWords(RandomWord(random, 4), 1)[0].text;
    for (const uint32_t distance_max : {1u, 2u}) {
      std::vector<CloseWord> expected;
      for (size_t word = 0; word < index.word_count(); ++word) {
        const uint32_t distance = EditDistance(wanted, index.word(word));
        if (distance <= distance_max && wanted.size() <= kSpelledWordMax) {
          expected.push_back({word, distance});
        }
      }
      ASSERT_EQ(FindCloseWords(index, wanted, distance_max), expected)
          << wanted << " within " << distance_max;
    }
  }
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

TEST_F(SpellingTest, EmptyQueryGetsNoProposal) {
  for (const char* query : {"", "   ", "zzzzzzzzzz", "12345", "x", "-pyhton", "!!!"}) {
    EXPECT_EQ(Spell(query), "") << query;
  }
  std::string long_query;
  for (int i = 0; i < 20; ++i) long_query += "pyhton ";
  EXPECT_EQ(Spell(long_query), "");
  EXPECT_EQ(Spell(std::string(3000, 'a')), "");
}

TEST(SpellingMergeTest, PartitionsKnowWhatOneIndexKnows) {
  const auto documents = LicenseDocuments();
  const TestSuggestions single(documents, {});
  const TestSuggestions parts(documents, {.partition_count = 5});
  std::mt19937_64 random(8);
  size_t proposal_count = 0;
  for (int i = 0; i < 200; ++i) {
    std::string query;
    for (size_t word = 0; word < 1 + random() % 3; ++word) {
      std::string text(single.index(0).word(random() % single.index(0).word_count()));
      if (text.size() > 2 && random() % 2 == 0) std::swap(text[0], text[1]);
      if (text.size() > 4 && random() % 2 == 0) text.erase(2, 1);
      query += text + " ";
    }
    const auto words = WordsToSpell(query);
    Spellings expected = single.FindAllSpellings(words);
    Spellings merged = parts.FindAllSpellings(words);
    // A split whose halves share no document may be known to one index only.
    for (Spellings* spellings : {&expected, &merged}) {
      for (WordSpellings& word : spellings->words) {
        std::erase_if(word.splits, [](const SplitWord& split) { return split.pair_count == 0; });
      }
    }
    ASSERT_EQ(merged, expected) << query;
    proposal_count += ComposeSpellings(query, words, merged, 3).empty() ? 0 : 1;
  }
  EXPECT_GT(proposal_count, 60u);
}

TEST(SpellingMergeTest, TheOrderOfPartitionsDoesNotMatter) {
  const TestSuggestions parts(LicenseDocuments(), {.partition_count = 3});
  const auto words = WordsToSpell("lisence agremeent warrenty");
  const auto find = [&](size_t i) { return FindSpellings(parts.index(i), words); };
  const auto merge = [&](const Spellings& a, const Spellings& b) {
    return MergeSpellings(a, b, words);
  };
  const Spellings left = merge(merge(find(0), find(1)), find(2));
  EXPECT_EQ(left, merge(find(0), merge(find(1), find(2))));
  EXPECT_EQ(left, merge(find(2), merge(find(1), find(0))));
}

TEST(IsWorthProposingTest, QueryThatFindsFarMoreIsProposed) {
  EXPECT_TRUE(IsWorthProposing(0, 1));
  EXPECT_FALSE(IsWorthProposing(0, 0));
  EXPECT_TRUE(IsWorthProposing(3, 30));
  EXPECT_FALSE(IsWorthProposing(3, 29));
}

}  // namespace
}  // namespace search::index
