#include "index/core/analysis/term_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace search::index {
namespace {

struct Wish {
  std::string term;
  bool is_prefix = false;
};

WantedTerms Wanted(const std::vector<Wish>& wishes) {
  WantedTerms wanted;
  for (const Wish& wish : wishes) {
    wish.is_prefix ? wanted.AddPrefix(wish.term) : wanted.AddTerm(wish.term);
  }
  return wanted;
}

bool IsWished(std::string_view term, const std::vector<Wish>& wishes) {
  return std::any_of(wishes.begin(), wishes.end(), [term](const Wish& wish) {
    return wish.is_prefix ? term.starts_with(wish.term) : term == wish.term;
  });
}

// The wished tokens as text, for comparing.
std::string Listed(const std::vector<Token>& tokens, const std::vector<Wish>& wishes) {
  std::string list;
  for (const Token& token : tokens) {
    if (!IsWished(token.term, wishes)) continue;
    list += std::string(token.term) + "@" + std::to_string(token.begin_byte) + "-" +
            std::to_string(token.end_byte) + " ";
  }
  return list;
}

std::string Found(std::string_view text, const std::vector<Wish>& wishes) {
  static TermFinder* const finder = new TermFinder;
  std::vector<Token> tokens;
  finder->Find(text, Wanted(wishes), &tokens);
  return Listed(tokens, wishes);
}

std::string Analysed(std::string_view text, const std::vector<Wish>& wishes) {
  static Analyzer* const analyzer = new Analyzer;
  std::vector<Token> tokens;
  analyzer->Analyze(text, &tokens);
  return Listed(tokens, wishes);
}

TEST(TermFinderTest, FindsEveryFormOfAWord) {
  EXPECT_EQ(Found("Sorting sorts; sorted, SORT. Assorted resorts", {{"sort"}}),
            "sort@0-7 sort@8-13 sort@15-21 sort@23-27 ");
  EXPECT_EQ(Found("dying, dies, die", {{"die"}}), "die@0-5 die@7-11 die@13-16 ");
  EXPECT_EQ(Found("cry cries cried", {{"cri"}}), "cri@0-3 cri@4-9 cri@10-15 ");
}

TEST(TermFinderTest, KnowsWhichTermsAreNames) {
  for (const std::string term : {"sort", "c++", "c#", "3.14", "don't", "caf\xC3\xA9", "v15"}) {
    EXPECT_FALSE(Wanted({{term}}).has_names()) << term;
  }
  for (const std::string term :
       {"->", "++", "-m", "--help", "__init__", "operator<<", "operator()", "operator++", "&&"}) {
    EXPECT_TRUE(Wanted({{term}}).has_names()) << term;
  }
}

TEST(TermFinderTest, FindsWordsAtJoints) {
  const std::vector<Wish> wishes = {{"t"}, {"don't"}, {"2"}, {"1.2"}, {"c++"}, {"17"}, {"end"}};
  for (const std::string text : {"don't t", "1.2 1.2.2 v1.2 2", "c++17 c++ 17", "the end.end 'end",
                                 "dont't t't", "x.2 2.x 2.2x", "don\xE2\x80\x99t",
                                 "end\xE2\x80\x94"
                                 "end"}) {
    EXPECT_EQ(Found(text, wishes), Analysed(text, wishes)) << text;
  }
}

// What the filter of WantedTerms rests on, for a vocabulary of stems with all endings.
TEST(TermFinderTest, StemsKeepTheLettersOfTheirWords) {
  static constexpr const char* kEndings[] = {
      "",        "s",     "es",    "ies",    "ied",    "ed",      "eed",     "eedly",   "edly",
      "ing",     "ingly", "y",     "ly",     "li",     "ational", "tional",  "enci",    "ency",
      "anci",    "ancy",  "abli",  "ably",   "entli",  "ently",   "izer",    "ization", "ation",
      "ator",    "alism", "aliti", "ality",  "alli",   "ally",    "fulness", "ously",   "ousness",
      "iveness", "iviti", "ivity", "biliti", "bility", "ogi",     "logy",    "fully",   "lessly",
      "alize",   "icate", "iciti", "icity",  "ical",   "ful",     "ness",    "ative",   "al",
      "ance",    "ence",  "er",    "ic",     "able",   "ible",    "ant",     "ement",   "ment",
      "ent",     "ism",   "ate",   "iti",    "ity",    "ous",     "ive",     "ize",     "ion",
      "tion",    "sion",  "e",     "l",      "ll",     "'s",      "'"};
  EnglishStemmer stemmer(0);
  std::mt19937_64 rng(53);
  for (int round = 0; round < 20000; ++round) {
    std::string stem;
    const size_t size = 1 + rng() % 6;
    for (size_t i = 0; i < size; ++i) {
      stem += i % 2 == rng() % 4 / 3 ? "aeiouy"[rng() % 6] : "bcdfghjklmnpqrstvwxyz"[rng() % 21];
    }
    for (const char* const ending : kEndings) {
      std::string word = stem + ending;
      if (word.size() < 3) continue;
      char padded[64] = {};
      word.copy(padded, word.size());
      char room[64] = {};
      const std::string_view term(room, stemmer.Stem(padded, word.size(), room));
      WantedTerms wanted;
      wanted.AddTerm(term);
      ASSERT_TRUE(wanted.MayBeginAt(word, 0)) << word << " -> " << term;
      ASSERT_TRUE(wanted.MayBe(padded)) << word << " -> " << term;
      for (size_t prefix = 1; prefix <= term.size(); ++prefix) {
        WantedTerms all;
        all.AddPrefix(term.substr(0, prefix));
        ASSERT_TRUE(all.MayBeginAt(word, 0)) << word << " -> " << term.substr(0, prefix);
      }
    }
  }
}

// Words with all that joins, splits and folds, and odd bytes.
std::string RandomText(std::mt19937_64* rng) {
  static const std::vector<std::string> kParts = {"sort",
                                                  "Sorting",
                                                  "dying",
                                                  "don't",
                                                  "c++",
                                                  "c#",
                                                  "3.14",
                                                  "1",
                                                  "x",
                                                  "operator<<",
                                                  "->",
                                                  "--help",
                                                  "__init__",
                                                  "os.path",
                                                  "foo_bar",
                                                  "the",
                                                  "cries",
                                                  "possibly",
                                                  "i",
                                                  "na\xC3\xAFve",
                                                  "\xC3\x89"
                                                  "cole",
                                                  "e\xCC\x81"
                                                  "cole",
                                                  "\xD0\xBC\xD0\xB8\xD1\x80",
                                                  "\xE6\xA4\x9C\xE7\xB4\xA2",
                                                  "API",
                                                  "\xE2\x80\x99s",
                                                  "\xE2\x80\x94",
                                                  "\xC2\xAD",
                                                  "\xFF",
                                                  "\xC3",
                                                  "\xEF\xBC\xA1",
                                                  "user\xE2\x80\x99s",
                                                  "\xF0\x9F\x98\x80"};
  static const std::vector<std::string> kJoints = {
      " ", " ", " ", " ", "", "", ".", "'", "-", "+", "#", ", ", "\n", "_", "/", "\xE2\x80\x99"};
  std::string text;
  const size_t count = (*rng)() % 120;
  for (size_t i = 0; i < count; ++i) {
    text += kParts[(*rng)() % kParts.size()] + kJoints[(*rng)() % kJoints.size()];
  }
  return text;
}

TEST(TermFinderPropertyTest, FindsWhatAnAnalyzerYields) {
  std::mt19937_64 rng(59);
  Analyzer analyzer;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = RandomText(&rng);
    std::vector<Token> tokens;
    analyzer.Analyze(text, &tokens);
    std::vector<Wish> wishes;
    for (size_t i = 0; i < 1 + rng() % 4 && !tokens.empty(); ++i) {
      const std::string term(tokens[rng() % tokens.size()].term);
      const bool is_prefix = rng() % 4 == 0;
      const Wish wish = {is_prefix ? term.substr(0, 1 + rng() % term.size()) : term, is_prefix};
      if (!Wanted({wish}).has_names()) wishes.push_back(wish);
    }
    // A prefix wants no names: their terms begin with signs, or with `operator` and a sign.
    std::erase_if(
        tokens, [](const Token& token) { return Wanted({{std::string(token.term)}}).has_names(); });
    ASSERT_EQ(Found(text, wishes), Listed(tokens, wishes)) << "round " << round << ": " << text;
  }
}

TEST(TermFinderPropertyTest, CountsThePositionsBetweenWords) {
  std::mt19937_64 rng(61);
  Analyzer analyzer;
  for (int round = 0; round < 3000; ++round) {
    const std::string text = RandomText(&rng);
    std::vector<Token> tokens;
    analyzer.Analyze(text, &tokens);
    std::erase_if(
        tokens, [](const Token& token) { return Wanted({{std::string(token.term)}}).has_names(); });
    if (tokens.size() < 2) continue;
    const size_t first = rng() % (tokens.size() - 1);
    const size_t second = first + 1 + rng() % (tokens.size() - first - 1);
    const size_t expected = tokens[second].position - tokens[first].position - 1;
    for (const size_t count_max : {size_t{0}, size_t{1}, size_t{5}, size_t{1000}}) {
      ASSERT_EQ(TermFinder::CountPositions(text, tokens[first].end_byte, tokens[second].begin_byte,
                                           count_max),
                std::min(expected, count_max))
          << "round " << round << ": " << text;
    }
  }
}

TEST(TermFinderTest, WantsManyTermsThatBeginAlike) {
  std::vector<Wish> wishes;
  std::string text;
  for (char c = 'a'; c <= 'z'; ++c) {
    wishes.push_back({std::string("con") + c + "o"});
    text += std::string("Con") + c + "o con" + c + "x ";
  }
  EXPECT_EQ(Found(text, wishes), Analysed(text, wishes));
}

TEST(TermFinderTest, FindsAcrossItsBlocks) {
  for (size_t shift = 0; shift < 140; ++shift) {
    const std::string text =
        std::string(shift, ' ') + "sorting " + std::string(shift, 'x') + " sorted caf\xC3\xA9 sort";
    EXPECT_EQ(Found(text, {{"sort"}, {"cafe"}}), Analysed(text, {{"sort"}, {"cafe"}})) << shift;
  }
}

}  // namespace
}  // namespace search::index
