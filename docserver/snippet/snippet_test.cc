#include "docserver/snippet/snippet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "docserver/snippet/snippet_checks.h"
#include "index/core/analysis/analyzer.h"

namespace search::docserver {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Pieces = google::protobuf::RepeatedPtrField<SnippetPiece>;

Pieces Made(std::string_view text, std::string_view query, const SnippetOptions& options = {}) {
  static SnippetMaker* const maker = new SnippetMaker;
  auto parsed = index::ParseQuery(query);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  Pieces pieces;
  maker->Make(text, QueryTerms(*parsed), options, &pieces);
  return pieces;
}

// The snippet with brackets around matched pieces.
std::string Marked(std::string_view text, std::string_view query,
                   const SnippetOptions& options = {}) {
  std::string out;
  for (const SnippetPiece& piece : Made(text, query, options)) {
    out += piece.matches_query() ? "[" + piece.text() + "]" : piece.text();
  }
  return out;
}

std::string Filler(int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i) text += "Nothing of interest stands in this sentence here. ";
  return text;
}

TEST(SnippetTest, MarksEveryFormOfAWordAndNothingElse) {
  EXPECT_EQ(Marked("Sorting sorts; sorted, sort. Assorted resorts.", "sort"),
            "[Sorting] [sorts]; [sorted], [sort]. Assorted resorts.");
}

TEST(SnippetTest, MarksPhrasesOnlyAsAWhole) {
  EXPECT_EQ(Marked("A foreign key is a key. Foreign keys matter.", "\"foreign key\""),
            "A [foreign] [key] is a key. [Foreign] [keys] matter.");
}

TEST(SnippetTest, MarksEachWordOfNear) {
  EXPECT_EQ(Marked("Hash and map, a map.", "hash NEAR/3 map"), "[Hash] and [map], a [map].");
}

// The words of the text that FindMatches finds.
std::vector<std::string> Matches(std::string_view text, std::string_view query, size_t max = 100) {
  TextRanges ranges;
  const auto parsed = index::ParseQuery(query);
  SnippetMaker().FindMatches(text, QueryTerms(*parsed), max, &ranges);
  EXPECT_EQ(ranges.begins_size(), ranges.sizes_size());
  std::vector<std::string> words;
  for (int i = 0; i < ranges.begins_size(); ++i) {
    words.emplace_back(text.substr(ranges.begins(i), ranges.sizes(i)));
  }
  return words;
}

TEST(SnippetTest, FindsAllMatchesOfTheWholeText) {
  EXPECT_EQ(Matches("Sorting sorts; a sorted one.\n" + Filler(3000) + "sort", "sort"),
            (std::vector<std::string>{"Sorting", "sorts", "sorted", "sort"}));
  EXPECT_EQ(Matches("A foreign key is a key. Foreign keys", "\"foreign key\""),
            (std::vector<std::string>{"foreign", "key", "Foreign", "keys"}));
  EXPECT_EQ(Matches("a cat, a cat, a cat", "cat", 2), (std::vector<std::string>{"cat", "cat"}));
  EXPECT_TRUE(Matches("nothing", "cat").empty());
  EXPECT_TRUE(Matches("nothing", "").empty());
}

TEST(SnippetTest, MarksNamesWithPunctuation) {
  EXPECT_EQ(Marked("Use std::vector<int>, in C++ or C.", "std::vector c++"),
            "Use [std]::[vector]<int>, in [C++] or C.");
}

TEST(SnippetTest, MarksNamesWithSigns) {
  EXPECT_EQ(Marked("git commit -m <msg> or --message, see m->n.", "-m --message ->"),
            "git commit [-m] <msg> or [--message], see m[->]n.");
  EXPECT_EQ(Marked("Use --help for help.", "--help help"), "Use [--help] for [help].");
  EXPECT_EQ(Marked("Use --help for help.", "help"), "Use --[help] for [help].");
  EXPECT_EQ(Marked("std::operator<<(x) and operator<<.", "std::operator<<"),
            "[std]::[operator<<](x) and operator<<.");
}

TEST(SnippetTest, MarksWordsWithAPrefix) {
  EXPECT_EQ(Marked("Vectors, a vec, velvet and vectorised.", "vec*"),
            "[Vectors], a [vec], velvet and [vectorised].");
  EXPECT_EQ(Marked("A run, running and runs.", "running*"), "A [run], [running] and [runs].");
  EXPECT_EQ(Marked("A hash map of hashes.", "hash* \"hash map\""), "A [hash] [map] of [hashes].");
}

TEST(SnippetTest, FindsPhrasesAmongNamesThatShareAPosition) {
  EXPECT_EQ(Marked("commit -m x; commit m x.", "\"commit -m x\""),
            "[commit] [-m] [x]; commit m x.");
  EXPECT_EQ(Marked("commit -m x.", "\"commit m x\" -m"), "[commit] [-m] [x].");
  const std::string filler = Filler(400);
  EXPECT_THAT(Marked(filler + "-a foreign key.", "\"foreign key\""), HasSubstr("[foreign] [key]"));
}

TEST(SnippetTest, DoesNotMarkExclusionsSitesAndTitles) {
  EXPECT_EQ(Marked("alpha beta gamma delta", "alpha -beta title:gamma site:delta"),
            "[alpha] beta gamma delta");
}

TEST(SnippetTest, MarksAccentedAndForeignWords) {
  EXPECT_EQ(Marked("Un caf\xC3\xA9 \xE6\xA4\x9C\xE7\xB4\xA2\xE3\x81\x99",
                   "cafe \xE6\xA4\x9C\xE7\xB4\xA2"),
            "Un [caf\xC3\xA9] [\xE6\xA4\x9C\xE7\xB4\xA2]\xE3\x81\x99");
}

TEST(SnippetTest, ShowsTheBeginningWithoutAMatch) {
  EXPECT_EQ(Marked("  First line.\n\nSecond\tline.", "absent"), "First line. Second line.");
  EXPECT_THAT(Marked(Filler(20), ""), AllOf(StartsWith("Nothing of"), EndsWith("here. …")));
}

TEST(SnippetTest, GivesNothingForNothing) {
  EXPECT_EQ(Marked("", "x"), "");
  EXPECT_EQ(Marked(" \n ", "x"), "");
  EXPECT_EQ(Marked("x", "x", {.size_max = 0}), "");
}

TEST(SnippetTest, BeginsAtASentence) {
  const std::string text = Filler(20) + "The mutex guards the queue. " + Filler(20);
  EXPECT_THAT(Marked(text, "mutex"),
              AllOf(StartsWith("… The [mutex] guards the queue. Nothing"), EndsWith("here. …")));
}

TEST(SnippetTest, PrefersThePassageWithThePhrase) {
  const std::string text = Filler(5) + "A key that is foreign, and a constraint. " + Filler(20) +
                           "Declare a foreign key there. " + Filler(20);
  EXPECT_THAT(Marked(text, "\"foreign key\" constraint", {.size_max = 120}),
              HasSubstr("a [foreign] [key] there"));
}

TEST(SnippetTest, PrefersWordsNearEachOther) {
  const std::string text =
      "A mutex. " + Filler(3) + "A deadlock. " + Filler(30) + "A mutex may deadlock. " + Filler(3);
  EXPECT_THAT(Marked(text, "mutex deadlock"),
              AllOf(HasSubstr("A [mutex] may [deadlock]."), Not(HasSubstr("A [mutex]. "))));
}

TEST(SnippetTest, JoinsPassagesWhenNoneHoldsAll) {
  const std::string text =
      Filler(10) + "The mutex waits. " + Filler(30) + "The deadlock stays. " + Filler(10);
  EXPECT_THAT(Marked(text, "mutex deadlock"),
              AllOf(HasSubstr("[mutex]"), HasSubstr(" … "), HasSubstr("[deadlock]")));
}

TEST(SnippetTest, FindsPhrasesAcrossScanSteps) {
  for (int shift = 0; shift < 60; ++shift) {
    std::string text = Filler(1310);
    text.resize((64 << 10) - 40 + shift);
    text += " needle haystack " + Filler(3);
    EXPECT_THAT(Marked(text, "\"needle haystack\""), HasSubstr("[needle] [haystack]")) << shift;
  }
}

TEST(SnippetTest, LooksNoFurtherThanItsLimit) {
  const std::string text = Filler(10) + "needle";
  EXPECT_THAT(Marked(text, "needle", {.scan_size_max = 100}), Not(HasSubstr("[")));
}

TEST(SnippetTest, KeepsHtmlAsText) {
  EXPECT_EQ(Marked("<b>bold</b> & <script>", "bold"), "<b>[bold]</b> & <script>");
}

// A random text whose words rarely form the query, with unusual white space and bytes.
std::string RandomText(std::mt19937_64* rng, bool with_odd_bytes) {
  static const std::vector<std::string> kWords = {"foreign",
                                                  "keys",
                                                  "key",
                                                  "constraint",
                                                  "the",
                                                  "mutex",
                                                  "mutexes",
                                                  "a",
                                                  "std",
                                                  "vector",
                                                  "std::vector",
                                                  "of",
                                                  "sentence",
                                                  "deadlock.",
                                                  "gr\xC3\xB6\xC3\x9F"
                                                  "e",
                                                  "\xE6\xA4\x9C\xE7\xB4\xA2",
                                                  "\xE3\x80\x82"};
  static const std::vector<std::string> kOdd = {
      "\xFF", "\xE6\xA4", "\x01", "\n\n", "\xC2\xAD", "\xCC\x81", "\xF0\x9F\x98\x80"};
  std::string text;
  const size_t count = (*rng)() % 400;
  for (size_t i = 0; i < count; ++i) {
    text += kWords[(*rng)() % kWords.size()];
    if (with_odd_bytes && (*rng)() % 8 == 0) text += kOdd[(*rng)() % kOdd.size()];
    text += (*rng)() % 12 == 0 ? ".\n" : " ";
  }
  return text;
}

constexpr std::string_view kQueries[] = {"mutex",
                                         "\"foreign key\" mutex",
                                         "std::vector OR deadlock",
                                         "the constraint key",
                                         "\xE6\xA4\x9C\xE7\xB4\xA2 groesse",
                                         "gr\xC3\xB6\xC3\x9F"
                                         "e a",
                                         "absent"};

constexpr std::string_view kComparedQueries[] = {"mutex vector",
                                                 "\"foreign key\" mutex",
                                                 "\"key constraint the mutex\" OR \"std vector\"",
                                                 "std::vector NEAR deadlock",
                                                 "mut* vec* constr*",
                                                 "\xE6\xA4\x9C\xE7\xB4\xA2 groesse",
                                                 "gr\xC3\xB6\xC3\x9F"
                                                 "e a",
                                                 "-- sentence of -a",
                                                 "absent"};

TEST(SnippetPropertyTest, HoldsItsSizeAndComesFromTheText) {
  std::mt19937_64 rng(31);
  for (int round = 0; round < 4000; ++round) {
    const std::string text = RandomText(&rng, true);
    const SnippetOptions options = {.size_max = 1 + rng() % 400,
                                    .passage_count_max = 1 + rng() % 4};
    const Pieces pieces = Made(text, kQueries[rng() % std::size(kQueries)], options);
    ASSERT_EQ(BrokenPromise(text, options, pieces), "") << text;
  }
}

TEST(SnippetPropertyTest, MarksExactlyTheWantedWords) {
  index::Analyzer analyzer;
  std::mt19937_64 rng(37);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = RandomText(&rng, false);
    const std::set<std::string_view> wanted = {"mutex", "key"};
    std::string snippet;
    std::set<size_t> marked_at;
    for (const SnippetPiece& piece : Made(text, "mutex key")) {
      if (piece.matches_query()) marked_at.insert(snippet.size());
      snippet += piece.text();
    }
    std::vector<index::Token> tokens;
    analyzer.Analyze(snippet, &tokens);
    for (const index::Token& token : tokens) {
      ASSERT_EQ(wanted.contains(token.term), marked_at.contains(token.begin_byte)) << snippet;
    }
  }
}

TEST(SnippetPropertyTest, ShowsThePhraseWheneverTheTextHasIt) {
  std::mt19937_64 rng(41);
  index::Analyzer analyzer;
  for (int round = 0; round < 2000; ++round) {
    const std::string text = RandomText(&rng, false);
    std::vector<index::Token> tokens;
    analyzer.Analyze(text, &tokens);
    bool has_phrase = false;
    for (size_t i = 1; i < tokens.size(); ++i) {
      has_phrase |= tokens[i - 1].term == "foreign" && tokens[i].term == "key";
    }
    bool shows_phrase = false;
    for (const SnippetPiece& piece : Made(text, "\"foreign key\" mutex constraint of a")) {
      shows_phrase |= piece.matches_query() && piece.text() == "foreign";
    }
    ASSERT_EQ(shows_phrase, has_phrase) << text;
  }
}

// Whatever finds the words of the query, the snippet is the same.
TEST(SnippetPropertyTest, MakesTheSnippetOfAnAnalysedText) {
  SnippetMaker finding;
  SnippetMaker analysing(MatchScan::Method::kAnalyseText);
  std::mt19937_64 rng(47);
  for (int round = 0; round < 6000; ++round) {
    std::string text = RandomText(&rng, true);
    if (round % 10 == 0) {  // several steps
      while (text.size() < 40000) text += RandomText(&rng, true);
    }
    const auto query = index::ParseQuery(kComparedQueries[rng() % std::size(kComparedQueries)]);
    ASSERT_TRUE(query.ok()) << query.status();
    const QueryTerms terms(*query);
    const SnippetOptions options = {.size_max = 1 + rng() % 400};
    Pieces found;
    finding.Make(text, terms, options, &found);
    Pieces analysed;
    analysing.Make(text, terms, options, &analysed);
    ASSERT_EQ(Difference(found, analysed), "") << "round " << round << ":\n" << text;
    TextRanges found_ranges;
    finding.FindMatches(text, terms, 300, &found_ranges);
    TextRanges analysed_ranges;
    analysing.FindMatches(text, terms, 300, &analysed_ranges);
    ASSERT_EQ(found_ranges.SerializeAsString(), analysed_ranges.SerializeAsString()) << text;
  }
}

}  // namespace
}  // namespace search::docserver
