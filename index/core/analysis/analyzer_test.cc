#include "index/core/analysis/analyzer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace search::index {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Terms(std::string_view text, FieldKind field = FieldKind::kBody) {
  Analyzer analyzer(AnalyzerOptions::ForQueries());
  std::vector<Token> tokens;
  analyzer.Analyze(field, text, &tokens);
  std::vector<std::string> terms;
  for (const Token& token : tokens) terms.emplace_back(token.term);
  return terms;
}

TEST(AnalyzerTest, FoldsAndStemsEnglish) {
  EXPECT_THAT(Terms("The Searching, searched SEARCHES!"),
              ElementsAre("the", "search", "search", "search"));
}

TEST(AnalyzerTest, GivesPositionsAndByteRanges) {
  Analyzer analyzer;
  std::vector<Token> tokens;
  analyzer.Analyze("Ein Zug, caf\xC3\xA9", &tokens);
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[1].position, 1u);
  EXPECT_EQ(tokens[1].begin_byte, 4u);
  EXPECT_EQ(tokens[1].end_byte, 7u);
  EXPECT_EQ(tokens[2].term, "cafe");
  EXPECT_EQ(tokens[2].begin_byte, 9u);
  EXPECT_EQ(tokens[2].end_byte, 14u);
}

TEST(AnalyzerTest, AsciiRunsAreNeitherStemmedNorFoldedBeyondCase) {
  Analyzer analyzer({.words = WordRule::kAsciiRuns});
  const std::string text = "The Searching C++17 na\xC3\xAFve " + std::string(70, 'X') + "-y";
  std::vector<Token> tokens;
  analyzer.Analyze(text, &tokens);
  std::vector<std::string> terms;
  for (const Token& token : tokens) terms.emplace_back(token.term);
  EXPECT_THAT(terms,
              ElementsAre("the", "searching", "c", "17", "na", "ve", std::string(64, 'x'), "y"));
  EXPECT_EQ(tokens[6].end_byte - tokens[6].begin_byte, 70u);
  EXPECT_EQ(tokens[7].position, 7u);
  const std::vector<WordTerm> words = analyzer.AnalyzeWord("Well-Known");
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[1], (WordTerm{"known", "known", "Known", 1}));
}

TEST(AnalyzerTest, SplitsIdentifiersAtPunctuation) {
  EXPECT_THAT(Terms("std::vector pg_stat_activity os.path well-known utf-8"),
              ElementsAre("std", "vector", "pg", "stat", "activ", "os", "path", "well", "known",
                          "utf", "8"));
}

// Terms with their positions.
std::vector<std::string> Placed(std::string_view text) {
  Analyzer analyzer(AnalyzerOptions::ForQueries());
  std::vector<Token> tokens;
  analyzer.Analyze(text, &tokens);
  std::vector<std::string> placed;
  for (const Token& token : tokens) {
    placed.push_back(std::string(token.term) + "/" + std::to_string(token.position));
  }
  return placed;
}

TEST(AnalyzerTest, KeepsOptionsBesideTheirWords) {
  EXPECT_THAT(Placed("git commit -m <msg>"),
              ElementsAre("git/0", "commit/1", "-m/2", "m/2", "msg/3"));
  EXPECT_THAT(Placed("[--no-verify] x"), ElementsAre("--no-verify/0", "no/0", "verifi/1", "x/2"));
  EXPECT_THAT(Placed("-Wall,--Help=x"),
              ElementsAre("-wall/0", "wall/0", "--help/1", "help/1", "x/2"));
  EXPECT_THAT(
      Terms("kill -9 x-y a - b -15 -1.5 e---f --1 --don't"),
      ElementsAre("kill", "-9", "9", "x", "y", "a", "b", "15", "1.5", "e", "f", "1", "don't"));
}

TEST(AnalyzerTest, KeepsIdentifiersWithLeadingUnderscores) {
  EXPECT_THAT(Placed("def __init__(self)"), ElementsAre("def/0", "__init__/1", "init/1", "self/2"));
  EXPECT_THAT(Placed("__builtin_expect x"),
              ElementsAre("__builtin_expect/0", "builtin/0", "expect/1", "x/2"));
  EXPECT_THAT(Terms("_Bool a_b a__b _1 _____x"),
              ElementsAre("_bool", "bool", "a", "b", "a", "b", "1", "x"));
}

TEST(AnalyzerTest, KeepsOperatorFunctions) {
  EXPECT_THAT(Placed("std::operator<<(a)"),
              ElementsAre("std/0", "operator<</1", "oper/1", "<</2", "a/3"));
  EXPECT_THAT(Terms("operator< operator() Operator[] operator-based operators="),
              ElementsAre("operator<", "oper", "operator()", "oper", "operator[]", "oper", "oper",
                          "base", "oper"));
}

TEST(AnalyzerTest, SignsAreWords) {
  EXPECT_THAT(Placed("a->b && c"), ElementsAre("a/0", "->/1", "b/2", "&&/3", "c/4"));
  EXPECT_THAT(Terms("<< a ||"), ElementsAre("<<", "a", "||"));
  EXPECT_THAT(Terms("a + b??; a::b http://x ==== --> a -- b i--"),
              ElementsAre("a", "b", "a", "b", "http", "x", "a", "b", "i"));
}

TEST(AnalyzerTest, LeavesOutTooLongNames) {
  const std::string word(kTermSizeMax - 2, 'q');
  EXPECT_THAT(Terms("--" + word), ElementsAre("--" + word, word));
  EXPECT_THAT(Terms("--q" + word), ElementsAre("q" + word));
}

TEST(AnalyzerTest, AQuerysNameIsItsTermAlone) {
  Analyzer analyzer(AnalyzerOptions::ForQueries());
  const auto terms = [&](std::string_view text) {
    std::vector<std::string> all;
    for (const WordTerm& word : analyzer.AnalyzeWord(text)) {
      EXPECT_EQ(word.position, all.size());
      all.push_back(word.term);
    }
    return all;
  };
  EXPECT_THAT(terms("--No-Verify"), ElementsAre("--no-verify"));
  EXPECT_THAT(terms("__init__"), ElementsAre("__init__"));
  EXPECT_THAT(terms("operator<<"), ElementsAre("operator<<"));
  EXPECT_THAT(terms("commit -m x"), ElementsAre("commit", "-m", "x"));
  // Several words each have a position, so that the phrase has no gaps.
  EXPECT_THAT(terms("commit --no-verify"), ElementsAre("commit", "no", "verifi"));
  EXPECT_THAT(terms("std::operator<<"), ElementsAre("std", "oper", "<<"));
  EXPECT_THAT(terms("--message=x"), ElementsAre("--message", "x"));
}

TEST(AnalyzerTest, KeepsNamesOfLanguages) {
  EXPECT_THAT(Terms("C++ c++17 C# F#, a#b notepad++"),
              ElementsAre("c++", "c++", "17", "c#", "f#", "a", "b", "notepad", "++"));
}

TEST(AnalyzerTest, KeepsNumbersAndVersionsWhole) {
  EXPECT_THAT(Terms("3.14 1.2.3. v15.2 f(1,2) 0x1F int32_t 5."),
              ElementsAre("3.14", "1.2.3", "v15", "2", "f", "1", "2", "0x1f", "int32", "t", "5"));
}

TEST(AnalyzerTest, JoinsApostrophesBetweenLetters) {
  EXPECT_THAT(Terms("don't 'quoted' user's don\xE2\x80\x99t rock'"),
              ElementsAre("don't", "quot", "user", "don't", "rock"));
}

TEST(AnalyzerTest, DoesNotStemWhatHoldsDigits) {
  EXPECT_THAT(Terms("utf8s utf"), ElementsAre("utf8s", "utf"));
}

TEST(AnalyzerTest, DropsAccentsOfLatinAndGreekOnly) {
  EXPECT_THAT(Terms("na\xC3\xAFve e\xCC\x81t\xC3\xA9 \xD0\xB9"),
              ElementsAre("naiv", "ete", "\xD0\xB9"));
}

TEST(AnalyzerTest, FoldsCompatibilityForms) {
  EXPECT_THAT(Terms("\xEF\xBC\xA3\xEF\xBC\xB0\xEF\xBC\xB5 of\xEF\xAC\x81"
                    "ce Stra\xC3\x9F"
                    "e x\xC2\xB2"),
              ElementsAre("cpu", "offic", "strass", "x2"));
}

TEST(AnalyzerTest, SplitsScriptsWithoutBlanksIntoCharacters) {
  EXPECT_THAT(Terms("\xE6\xA4\x9C\xE7\xB4\xA2"
                    "API\xE3\x82\xAB"),
              ElementsAre("\xE6\xA4\x9C", "\xE7\xB4\xA2", "api", "\xE3\x82\xAB"));
}

TEST(AnalyzerTest, KeepsHangulWords) {
  EXPECT_THAT(Terms("\xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4 x"),
              ElementsAre("\xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4", "x"));
}

TEST(AnalyzerTest, IgnoresSoftHyphens) {
  EXPECT_THAT(Terms("vec\xC2\xADtor"), ElementsAre("vector"));
}

TEST(AnalyzerTest, TakesInvalidBytesAsSeparators) {
  EXPECT_THAT(Terms("good\xFF"
                    "bad\xC3(\x80tail\xE2\x82"),
              ElementsAre("good", "bad", "tail"));
}

TEST(AnalyzerTest, DropsSymbols) {
  EXPECT_THAT(Terms("& * \xE2\x84\xA2 Qt\xE2\x84\xA2 \xF0\x9F\x98\x80"), ElementsAre("qt"));
}

TEST(AnalyzerTest, CutsLongWordsAtACharacter) {
  const std::string word(1000, 'q');
  EXPECT_THAT(Terms(word), ElementsAre(word.substr(0, kTermSizeMax)));
  std::string greek;
  for (int i = 0; i < 100; ++i) greek += "x\xCF\x89";
  const std::vector<std::string> terms = Terms(greek);
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].size(), kTermSizeMax);
  EXPECT_THAT(Terms("y" + greek), ElementsAre("y" + greek.substr(0, 63)));
}

TEST(AnalyzerTest, StopsAtTheTokenLimit) {
  Analyzer analyzer({.token_count_max = 2});
  std::vector<Token> tokens;
  analyzer.Analyze("a b c d", &tokens);
  EXPECT_EQ(tokens.size(), 2u);
}

TEST(AnalyzerTest, FindsSitesByTheirParts) {
  EXPECT_THAT(Terms("Cppreference-doc-en", FieldKind::kSite),
              ElementsAre("cppreference-doc-en", "cppreference", "cppreference-doc"));
  EXPECT_THAT(Terms("docs.python.org", FieldKind::kSite),
              ElementsAre("docs.python.org", "python.org", "org"));
  EXPECT_THAT(Terms(" \"()\t", FieldKind::kSite), IsEmpty());
}

TEST(AnalyzerTest, AnalysesQueryWordsLikeText) {
  Analyzer analyzer(AnalyzerOptions::ForQueries());
  const std::vector<WordTerm> terms = analyzer.AnalyzeWord("Pg_Dumps");
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_EQ(terms[1], (WordTerm{"dump", "dumps", "Dumps", 1}));
}

// Random text over an alphabet in which all rules meet.
std::string RandomText(std::mt19937_64* rng, bool ascii_only) {
  static const std::vector<std::string> kPieces = {"a",
                                                   "b",
                                                   "C",
                                                   "ing",
                                                   "s",
                                                   "1",
                                                   "23",
                                                   ".",
                                                   ",",
                                                   "'",
                                                   "+",
                                                   "++",
                                                   "#",
                                                   "_",
                                                   "-",
                                                   " ",
                                                   "\n",
                                                   "ies",
                                                   "Q",
                                                   "0",
                                                   "ly",
                                                   "(",
                                                   "ers",
                                                   "y",
                                                   "don",
                                                   "'t",
                                                   ":",
                                                   "::",
                                                   "/",
                                                   "x",
                                                   "\0",
                                                   "~",
                                                   "operator",
                                                   "->",
                                                   "&&",
                                                   "--",
                                                   "__",
                                                   "<",
                                                   "\xC3\xA9",
                                                   "\xCC\x81",
                                                   "\xCC\xA3",
                                                   "\xE2\x80\x99",
                                                   "\xE6\xA4\x9C",
                                                   "\xE3\x82\xAB",
                                                   "\xE3\x82\x99",
                                                   "\xE0\xB8\x99",
                                                   "\xE0\xB8\xB3",
                                                   "\xC2\xAD",
                                                   "\xC3\x9F",
                                                   "\xC4\xB0",
                                                   "\xED\x95\x9C",
                                                   "\xE1\x84\x92",
                                                   "\xE1\x85\xA1",
                                                   "\xEF\xBD\xB6",
                                                   "\xEF\xBE\x9E",
                                                   "\xFF",
                                                   "\xC3",
                                                   "\xE2\x80\x94",
                                                   "\xC2\xBD",
                                                   "\xD0\xB9",
                                                   "\xCE\x91",
                                                   "\xCD\x85",
                                                   "\xE1\xB7\x84",
                                                   "\xE2\x91\xA1",
                                                   "\xE3\x83\xBF",
                                                   "\xEF\xB7\xBA",
                                                   "\xF0\x9F\x98\x80",
                                                   "\xCF\x82",
                                                   "\xE0\xA4\xA8\xE0\xA4\xBF"};
  constexpr size_t kAsciiPieces = 38;
  std::string text;
  const size_t count = (*rng)() % 12 == 0 ? 400 : (*rng)() % 16;
  for (size_t i = 0; i < count; ++i) {
    text += kPieces[(*rng)() % (ascii_only ? kAsciiPieces : kPieces.size())];
  }
  return text;
}

TEST(AnalyzerPropertyTest, FastPathChangesNothing) {
  std::mt19937_64 rng(7);
  Analyzer fast;
  Analyzer slow({.ascii_fast_path = false});
  std::vector<Token> expected;
  std::vector<Token> tokens;
  for (int round = 0; round < 30000; ++round) {
    const std::string text = RandomText(&rng, round % 2 == 0);
    slow.Analyze(text, &expected);
    fast.Analyze(text, &tokens);
    ASSERT_EQ(tokens.size(), expected.size()) << text;
    for (size_t i = 0; i < tokens.size(); ++i) {
      ASSERT_EQ(tokens[i].term, expected[i].term) << text;
      ASSERT_EQ(tokens[i].begin_byte, expected[i].begin_byte) << text;
      ASSERT_EQ(tokens[i].end_byte, expected[i].end_byte) << text;
    }
  }
}

TEST(AnalyzerPropertyTest, FoldedWordAnalysesToTheSameTerm) {
  std::mt19937_64 rng(11);
  Analyzer analyzer(AnalyzerOptions::ForQueries());
  for (int round = 0; round < 30000; ++round) {
    const std::string text = RandomText(&rng, false);
    for (const WordTerm& word : analyzer.AnalyzeWord(text)) {
      const std::vector<WordTerm> again = analyzer.AnalyzeWord(word.folded);
      ASSERT_EQ(again.size(), 1u) << text << "\n" << word.folded;
      ASSERT_EQ(again[0].term, word.term) << text;
      ASSERT_EQ(again[0].folded, word.folded) << text;
    }
  }
}

TEST(AnalyzerPropertyTest, SurfaceAnalysesToTheSameTerm) {
  std::mt19937_64 rng(13);
  Analyzer analyzer(AnalyzerOptions::ForQueries());
  for (int round = 0; round < 10000; ++round) {
    const std::string text = RandomText(&rng, false);
    for (const WordTerm& word : analyzer.AnalyzeWord(text)) {
      const std::vector<WordTerm> again = analyzer.AnalyzeWord(word.surface);
      ASSERT_EQ(again.size(), 1u) << text << "\n" << word.surface;
      ASSERT_EQ(again[0].term, word.term) << text;
    }
  }
}

TEST(AnalyzerPropertyTest, SiteFoldIsStable) {
  std::mt19937_64 rng(17);
  for (int round = 0; round < 20000; ++round) {
    const std::string once = Analyzer::FoldSite(RandomText(&rng, false));
    ASSERT_EQ(Analyzer::FoldSite(once), once);
    ASSERT_LE(once.size(), kTermSizeMax);
  }
}

TEST(AnalyzerPropertyTest, CachedStemsEqualUncachedOnes) {
  std::mt19937_64 rng(19);
  Analyzer cached({.stem_cache_size = 2});  // nearly every word displaces another
  Analyzer uncached({.stem_cache_size = 0});
  std::vector<Token> expected;
  std::vector<Token> tokens;
  for (int round = 0; round < 5000; ++round) {
    const std::string text = RandomText(&rng, true);
    uncached.Analyze(text, &expected);
    cached.Analyze(text, &tokens);
    ASSERT_EQ(tokens.size(), expected.size());
    for (size_t i = 0; i < tokens.size(); ++i) ASSERT_EQ(tokens[i].term, expected[i].term);
  }
}

}  // namespace
}  // namespace search::index
