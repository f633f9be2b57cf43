#include "index/core/query/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "index/core/query/examples.h"
#include "index/core/query/scoring_words.h"

namespace search::index {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = QueryNode::Kind;

Query Parsed(std::string_view text) {
  auto query = ParseQuery(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return query.ok() ? *std::move(query) : Query{};
}

// Canonical text, followed by the number of notes if there are any.
std::string Understood(std::string_view text) {
  const Query query = Parsed(text);
  std::string out = Canonical(query);
  if (!query.notes.empty()) out += " | " + std::to_string(query.notes.size());
  return out;
}

TEST(ParseQueryTest, RequiresAllWords) {
  const Query query = Parsed("Sorting vectors");
  ASSERT_EQ(query.root.kind, Kind::kAnd);
  ASSERT_THAT(query.root.children, SizeIs(2));
  EXPECT_EQ(query.root.children[0].kind, Kind::kTerm);
  EXPECT_EQ(query.root.children[0].term, "sort");
  EXPECT_EQ(query.root.children[0].surface, "Sorting");
  EXPECT_EQ(query.root.children[1].field, QueryField::kAny);
}

TEST(ParseQueryTest, MakesOneNodeOfOneWord) {
  EXPECT_EQ(Parsed("vector").root.kind, Kind::kTerm);
  EXPECT_EQ(Parsed("((vector))").root.kind, Kind::kTerm);
}

TEST(ParseQueryTest, MakesPhrasesWithDistances) {
  const Query query = Parsed("\"primary keys\"");
  ASSERT_EQ(query.root.kind, Kind::kPhrase);
  EXPECT_THAT(query.root.phrase,
              ElementsAre(PhraseTerm{"primari", 0, "", ""}, PhraseTerm{"key", 1, "", ""}));
  EXPECT_EQ(query.root.phrase[1].surface, "keys");
}

TEST(ParseQueryTest, MakesAPhraseOfANameWithPunctuation) {
  EXPECT_EQ(Understood("std::vector pg_dump"), "\"std vector\" \"pg dump\"");
  EXPECT_EQ(Understood("c++ C#"), "c++ c#");
}

TEST(ParseQueryTest, BindsNotBeforeAndBeforeOr) {
  EXPECT_EQ(Understood("x y OR z"), "x y OR z");
  EXPECT_EQ(Understood("x AND (y OR z)"), "x (y OR z)");
  EXPECT_EQ(Understood("x NOT y z OR w"), "x z -y OR w");
  const Query query = Parsed("x y OR z");
  ASSERT_EQ(query.root.kind, Kind::kOr);
  EXPECT_EQ(query.root.children[0].kind, Kind::kAnd);
}

TEST(ParseQueryTest, ReadsSigns) {
  EXPECT_EQ(Understood("+must -not word"), "must word -not");
  EXPECT_EQ(Understood("x -(y z) -\"v w\""), "x -(y z) -\"v w\"");
  EXPECT_EQ(Understood("commit --amend"), "commit amend");
  EXPECT_EQ(Understood("well-known"), "\"well known\"");
}

TEST(ParseQueryTest, ReadsFields) {
  EXPECT_EQ(Understood("title:Vectors x"), "title:vector x");
  EXPECT_EQ(Understood("TITLE:\"hash map\""), "title:\"hash map\"");
  EXPECT_EQ(Understood("title:(x OR y) z"), "(title:x OR title:y) z");
  EXPECT_EQ(Understood("x site:CppReference-doc"), "x site:cppreference-doc");
  EXPECT_EQ(Understood("x -site:(a OR b)"), "x -(site:a OR site:b)");
  EXPECT_EQ(Understood("title::size http://x"), "\"titl size\" \"http x\"");
  EXPECT_EQ(Understood("title: x"), "titl x");
}

TEST(ParseQueryTest, QuotesUnusualSiteNames) {
  EXPECT_EQ(Understood("site:\"a:b c\""), "site:\"a:bc\"");
  EXPECT_EQ(Understood("site:+x"), "site:x");
}

TEST(ParseQueryTest, AcceptsCurlyQuotes) {
  EXPECT_EQ(Understood("\xE2\x80\x9Chash map\xE2\x80\x9D"), "\"hash map\"");
}

TEST(ParseQueryTest, LeavesOutStopWordsBesideOthers) {
  EXPECT_EQ(Understood("how to create the index"), "creat index | 1");
  EXPECT_THAT(Parsed("how to create the index").notes,
              ElementsAre(AllOf(HasSubstr("how, to, the"), HasSubstr("+"))));
  EXPECT_EQ(Understood("+the index"), "+the index");
  EXPECT_EQ(Understood("\"the\" index"), "+the index");
  EXPECT_EQ(Understood("for while if not"), "for while if not");
}

TEST(ParseQueryTest, KeepsStopWordsThatAreAlone) {
  EXPECT_EQ(Understood("to be"), "+to +be");
  EXPECT_EQ(Understood("the -index"), "+the -index");
  EXPECT_EQ(Understood("the site:python"), "+the site:python");
  EXPECT_EQ(Understood("\"to be or not to be\""), "\"to be or not to be\"");
}

TEST(ParseQueryTest, CountsRepeatsOfWhatScores) {
  EXPECT_EQ(Understood("vector x Vectors -x -x"), "vector vector x -x");
  EXPECT_EQ(Understood("x OR x"), "x x");
  EXPECT_EQ(Understood("(x y) y"), "x y y");
  EXPECT_EQ(Understood("(x OR y) z (x OR y)"), "(x x OR y y) z");
  EXPECT_EQ(Understood("site:s x site:s"), "site:s x");
  EXPECT_EQ(Understood("y -(x x)"), "y -x");
  EXPECT_EQ(Understood("\"x y\" z \"x y\""), "\"x y\" \"x y\" z");
  EXPECT_NE(Parsed("x x y"), Parsed("x y"));
}

TEST(ParseQueryTest, ClosesOpenQuotes) {
  EXPECT_EQ(Understood("x \"hash map"), "x \"hash map\" | 1");
  EXPECT_EQ(Understood("x\""), "x | 2");
}

TEST(ParseQueryTest, BalancesBrackets) {
  EXPECT_EQ(Understood("(x OR (y z"), "x OR y z | 1");
  EXPECT_EQ(Understood("x OR y) z"), "(x OR y) z | 1");
  EXPECT_EQ(Understood("))(("), " | 2");
  EXPECT_EQ(Understood("printf()"), "printf");
}

TEST(ParseQueryTest, LeavesOutDanglingOperators) {
  EXPECT_EQ(Understood("OR x"), "x | 1");
  EXPECT_EQ(Understood("x AND"), "x | 1");
  EXPECT_EQ(Understood("x AND OR y"), "x OR y | 1");
  EXPECT_EQ(Understood("NOT"), " | 1");
  EXPECT_EQ(Understood("x - y"), "x y | 1");
}

TEST(ParseQueryTest, MatchesNothingForOnlyExclusions) {
  const Query query = Parsed("-x -y");
  EXPECT_TRUE(query.empty());
  EXPECT_THAT(query.notes, ElementsAre(HasSubstr("only exclusions")));
  EXPECT_EQ(Understood("x OR -y"), "x | 1");
  EXPECT_EQ(Understood("x (-y)"), "x -y");
  EXPECT_EQ(Understood("-(-x)"), "x");
  EXPECT_EQ(Understood("z -(-x -y)"), "z (x OR y)");
}

TEST(ParseQueryTest, MatchesNothingForEmptyText) {
  EXPECT_TRUE(Parsed("").empty());
  EXPECT_THAT(Parsed("").notes, IsEmpty());
  EXPECT_EQ(Understood(" \t "), "");
  EXPECT_EQ(Understood("&& *"), " | 2");
  EXPECT_EQ(Understood("\"\""), " | 1");
}

TEST(ParseQueryTest, NotesAreValidTextForAnyBytes) {
  const Query query = Parsed("\xFF\xC3 x");
  ASSERT_THAT(query.notes, SizeIs(1));
  EXPECT_THAT(query.notes[0], HasSubstr("\xEF\xBF\xBD"));
}

TEST(ParseQueryTest, RefusesTooLongText) {
  EXPECT_TRUE(ParseQuery(std::string(4096, 'x')).ok());
  const auto query = ParseQuery(std::string(4097, 'x'));
  EXPECT_EQ(query.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_THAT(query.status().ToString(), HasSubstr("at byte 4096"));
}

TEST(ParseQueryTest, RefusesTooManyWords) {
  std::string text;
  for (int i = 0; i < 1024; ++i) text += "a ";
  EXPECT_TRUE(ParseQuery(text).ok());
  const auto query = ParseQuery(text + "b");
  EXPECT_EQ(query.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_THAT(query.status().ToString(), HasSubstr("at byte 2048"));
}

TEST(ParseQueryTest, RefusesTooDeepBrackets) {
  EXPECT_TRUE(ParseQuery(std::string(32, '(') + "x").ok());
  const auto query = ParseQuery(std::string(4000, '('));
  EXPECT_EQ(query.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_THAT(query.status().ToString(), HasSubstr("at byte 32"));
}

TEST(CanonicalTest, KeepsTheWordWhereTheStemIsNotStable) {
  // A stem may be stemmed once more when it is parsed; the printed text must have the same meaning.
  for (const char* word : {"generously", "universities", "does", "cans", "organizations"}) {
    const Query query = Parsed(word);
    EXPECT_EQ(Parsed(Canonical(query)), query) << Canonical(query);
  }
}

TEST(AnyWordOfTest, TakesNothingForAnOperator) {
  const auto query = AnyWordOf("What is a \"vector\", and NOT (a list of -vectors)?");
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(Canonical(*query), Canonical(Parsed("is OR vector OR and OR not OR list OR vectors")));
  EXPECT_EQ(Canonical(*AnyWordOf("what of it")), "+what OR +of OR +it");
  EXPECT_EQ(Canonical(*AnyWordOf("lists")), "list");
  EXPECT_TRUE(AnyWordOf(" ?! ")->empty());
}

TEST(AnyWordOfTest, RefusesTooMuch) {
  EXPECT_EQ(AnyWordOf(std::string(4097, 'x')).status().code(),
            neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(AnyWordOf("x y z", {.term_count_max = 2}).status().code(),
            neptune::StatusCode::kInvalidArgument);
}

TEST(PositiveLeavesTest, SkipsExclusionsAndSites) {
  const Query query = Parsed("x (y OR \"v w\") -z site:s");
  const std::vector<const QueryNode*> leaves = PositiveLeaves(query);
  ASSERT_THAT(leaves, SizeIs(3));
  EXPECT_EQ(leaves[0]->term, "x");
  EXPECT_EQ(leaves[2]->kind, Kind::kPhrase);
}

TEST(ScoringWordsTest, StandOnceInTheQuerysOrder) {
  const std::vector<ScoringWord> words =
      ScoringWords(Parsed("x (y OR \"v x\") title:x -z site:s y"));
  std::string text;
  for (const ScoringWord& word : words) {
    text += (word.title_only ? "title:" : "") + word.term + std::to_string(word.occurrences) + " ";
  }
  EXPECT_EQ(text, "x2 y2 v1 title:x1 ");
}

TEST(QueryExamplesTest, EachParsesWithoutRepair) {
  std::set<std::string_view> syntaxes;
  for (const QueryExample& example : QueryExamples()) {
    const Query query = Parsed(example.query);
    EXPECT_FALSE(query.empty()) << example.query;
    EXPECT_THAT(query.notes, IsEmpty()) << example.query;
    EXPECT_EQ(Parsed(Canonical(query)), query) << example.query;
    EXPECT_FALSE(example.meaning.empty());
    EXPECT_TRUE(syntaxes.insert(example.syntax).second) << example.syntax;
  }
}

TEST(QueryExamplesTest, MeanWhatTheySay) {
  EXPECT_EQ(Understood("mutex AND deadlock"), Understood("mutex deadlock"));
  EXPECT_EQ(Understood("+the shell"), "+the shell");
  EXPECT_EQ(Understood("iterator -(java OR python)"), "iter -(java OR python)");
  EXPECT_EQ(Understood("title:(hash map)"), "title:hash title:map");
  EXPECT_EQ(Understood("vector -site:cppreference"), "vector -site:cppreference");
}

}  // namespace
}  // namespace search::index
