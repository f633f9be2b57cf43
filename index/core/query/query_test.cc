#include "index/core/query/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "index/core/query/examples.h"
#include "index/core/query/scoring_words.h"

namespace search::index {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
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

TEST(ParseQueryTest, TakesOptionsAndSignsForWords) {
  EXPECT_EQ(Understood("git commit -m"), "git commit -m");
  EXPECT_EQ(Parsed("git commit -m").root.children[2].term, "-m");
  EXPECT_EQ(Understood("commit --no-verify"), "commit --no-verify");
  EXPECT_EQ(Understood("\"commit -m\" \"-Wall\""), "\"commit -m\" \"-wall\"");
  EXPECT_EQ(Understood("x && y || z"), "x && y || z");
  EXPECT_EQ(Understood("p->q += -> -="), "\"p -> q\" += -> -=");
  EXPECT_EQ(Understood("__init__ operator<< operator[]"), "__init__ operator<< operator[]");
  EXPECT_EQ(Understood("x NOT -m NOT -> NOT --all"), "x NOT -m NOT -> NOT --all");
  EXPECT_EQ(Understood("x -__init__ -operator<<"), "x -__init__ -operator<<");
  EXPECT_EQ(Understood("title:\"==\" title:-m"), "title:== title:-m");
  EXPECT_EQ(Understood("title:\"-Wall\" -title:\"-Wall\""), "title:\"-wall\" -title:\"-wall\"");
}

TEST(ParseQueryTest, ArgumentsBelongToTheirName) {
  EXPECT_EQ(Understood("O(n log n)"), "\"o n log n\"");
  EXPECT_EQ(Understood("git-log(1) printf() operator()"), "\"git log 1\" printf operator()");
  EXPECT_EQ(Understood("f(g(x), y) z"), "\"f g x y\" z");
  EXPECT_EQ(Understood("x(y OR z) NOT(v w)"), "x (y OR z) -(v w)");
  EXPECT_EQ(Understood("f(\"y z\") f(" + std::string(70, 'y') + ")"),
            "f f \"y z\" " + std::string(64, 'y'));
}

TEST(ParseQueryTest, NamesThePartsThatNarrowTheResult) {
  const std::string text = "rebase -interactive  NOT (x -y1) site:git -site:(a OR b) -m x";
  const Query query = Parsed(text);
  std::string parts;
  std::vector<std::string> without;
  for (const QueryPart& part : query.parts) {
    parts += (part.kind == QueryPart::Kind::kSite ? "site " : "not ") + part.text + "; ";
    without.push_back(WithoutPart(text, part));
  }
  EXPECT_EQ(parts, "not interactive; not (x -y1); site git; not site:(a OR b); ");
  EXPECT_THAT(without, ElementsAre("rebase  NOT (x -y1) site:git -site:(a OR b) -m x",
                                   "rebase -interactive site:git -site:(a OR b) -m x",
                                   "rebase -interactive  NOT (x -y1) -site:(a OR b) -m x",
                                   "rebase -interactive  NOT (x -y1) site:git -m x"));
  EXPECT_THAT(Parsed("x -(-yy)").parts, IsEmpty());
  EXPECT_EQ(Parsed("x -site:git").parts[0].text, "site:git") << "not the word";
  EXPECT_EQ(Parsed("x NOT title:y1").parts[0].text, "title:y1");
  EXPECT_EQ(Parsed("x -lang:en").parts[0].text, "lang:en");
  EXPECT_EQ(WithoutPart("-a1 b", Parsed("-a1 b").parts[0]), "b");
  EXPECT_EQ(WithoutPart("ab", {.begin_byte = 5, .end_byte = 9}), "ab");
  std::string many = "x";
  for (int i = 10; i < 40; ++i) many += " -y" + std::to_string(i);
  EXPECT_THAT(Parsed(many).parts, SizeIs(kQueryPartCountMax));
}

TEST(ParseQueryTest, BindsNotBeforeAndBeforeOr) {
  EXPECT_EQ(Understood("x y OR z"), "x y OR z");
  EXPECT_EQ(Understood("x AND (y OR z)"), "x (y OR z)");
  EXPECT_EQ(Understood("x NOT y z OR w"), "x z NOT y OR w");
  const Query query = Parsed("x y OR z");
  ASSERT_EQ(query.root.kind, Kind::kOr);
  EXPECT_EQ(query.root.children[0].kind, Kind::kAnd);
}

TEST(ParseQueryTest, ReadsSigns) {
  EXPECT_EQ(Understood("+must -not word"), "must word -not");
  EXPECT_EQ(Understood("x -(y z) -\"v w\""), "x -(y z) -\"v w\"");
  EXPECT_EQ(Understood("-y x -z1 NOT y"), "-y x -z1 NOT y");
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
  EXPECT_EQ(Understood("vector x Vectors -xx -xx"), "vector vector x -xx");
  EXPECT_EQ(Understood("x OR x"), "x x");
  EXPECT_EQ(Understood("(x y) y"), "x y y");
  EXPECT_EQ(Understood("(x OR y) z (x OR y)"), "(x x OR y y) z");
  EXPECT_EQ(Understood("site:s x site:s"), "site:s x");
  EXPECT_EQ(Understood("y -(x x)"), "y NOT x");
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
  EXPECT_EQ(Understood("))(("), " | 3");
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
  const Query query = Parsed("NOT x -yy");
  EXPECT_TRUE(query.empty());
  EXPECT_THAT(query.notes, ElementsAre(HasSubstr("only exclusions")));
  EXPECT_EQ(Understood("x OR -yy"), "x | 1");
  EXPECT_EQ(Understood("x (-yy)"), "x -yy");
  EXPECT_EQ(Understood("-(-xx)"), "xx");
  EXPECT_EQ(Understood("z -(-xx -yy)"), "z (xx OR yy)");
}

TEST(ParseQueryTest, ReadsPrefixes) {
  const Query query = Parsed("Vecs* title:re* running*");
  ASSERT_EQ(query.root.children[0].kind, Kind::kPrefix);
  EXPECT_EQ(query.root.children[0].term, "vecs");
  EXPECT_EQ(query.root.children[0].folded, "vec");
  EXPECT_EQ(Canonical(query), "vecs* title:re* running*");
  EXPECT_THAT(query.notes, IsEmpty());
  EXPECT_EQ(Understood("vec* vec* x -vec*"), "vec* vec* x -vec*");
  EXPECT_EQ(Understood("vec*^0.5 --no* __in* c++*"), "vec*^0.5 --no* __in* c++*");
  EXPECT_EQ(Understood("operator* x**"), "operator* \"x **\" | 1");
  EXPECT_EQ(Understood("c* pg_st* \"vec*\""), "c \"pg st\" vec | 1");
  std::string many = "x";
  for (int i = 10; i < 19; ++i) many += " y" + std::to_string(i) + "*";
  EXPECT_THAT(Parsed(many).notes, ElementsAre(HasSubstr("More than 8")));
}

TEST(ParseQueryTest, ReadsSharesOfTheScore) {
  EXPECT_EQ(Understood("x^0.5 \"y z\"^0.05 title:v^0.70"), "x^0.5 \"y z\"^0.05 title:v^0.7");
  EXPECT_EQ(Parsed("x^0.25").root.percent, 25u);
  EXPECT_EQ(Understood("x^0.5 x^0.6 x"), "x x x");
  EXPECT_EQ(Understood("x^0.5 x^0.6"), "x^0.6 x^0.6");
  EXPECT_EQ(Understood("x -y1^0.5 site:s^0.5"), "x site:s -y1");
  EXPECT_EQ(Understood("x^2 x^0.0 x^0.123 \"y\"^0.5z"),
            Understood("\"x 2\" \"x 0.0\" \"x 0.123\" y 0.5z"));
}

TEST(ParseQueryTest, NearJoinsWords) {
  const Query query = Parsed("Hash NEAR/5 tables NEAR/3 maps");
  ASSERT_EQ(query.root.kind, Kind::kNear);
  EXPECT_EQ(query.root.distance, 5u);
  EXPECT_THAT(query.root.phrase,
              ElementsAre(PhraseTerm{"hash", 0, "", ""}, PhraseTerm{"tabl", 1, "", ""},
                          PhraseTerm{"map", 2, "", ""}));
  EXPECT_THAT(query.notes, IsEmpty());
  EXPECT_EQ(Understood("x1 NEAR y1"), "x1 NEAR/10 y1");
  EXPECT_EQ(Understood("a1 x1 NEAR/2 y1 OR b1"), "a1 x1 NEAR/2 y1 OR b1");
  EXPECT_EQ(Understood("title:(x1 NEAR y1) -(a1 NEAR/1 b1)"),
            "title:(x1 NEAR/10 y1) -(a1 NEAR/1 b1)");
  EXPECT_EQ(Understood("x1 NEAR y1 x1 NEAR y1"), "x1 NEAR/10 y1 x1 NEAR/10 y1");
  EXPECT_EQ(Parsed("x1 NEAR y1 x1 NEAR y1").root.occurrences, 2u);
  EXPECT_EQ(Understood("the NEAR/4 x1^0.5"), "the NEAR/4 x1^0.5");
  EXPECT_EQ(Understood("title:(x1 NEAR y1^0.5)"), "title:(x1 NEAR/10 y1^0.5)");
  EXPECT_EQ(Understood("x1^0.5 NEAR -m"), "x1 NEAR/10 \"-m\"^0.5");
  EXPECT_EQ(Understood("\"-wall\" NEAR gcc"), "\"-wall\" NEAR/10 gcc");
  EXPECT_EQ(Understood("near x1 Near y1"), "near near x1 y1");
}

TEST(ParseQueryTest, FiltersByDeclaredFields) {
  EXPECT_EQ(Understood("x1 lang:EN-us"), "x1 lang:en-us");
  EXPECT_EQ(Understood("url:Docs/page.html x1"), "url:docs url:page url:html x1");
  EXPECT_EQ(Understood("x1 after:2024 before:2024-03-05"), "x1 after:2024 before:2024-03-05");
  EXPECT_EQ(Understood("x1 -url:a/b -lang:de"), "x1 -(url:a url:b) -lang:de");
  EXPECT_EQ(Understood("lang:(en OR de) the"), "(lang:en OR lang:de) +the");
  EXPECT_EQ(Understood("lang:(en OR url:x OR de)"), "lang:en OR url:x OR lang:de");
  EXPECT_EQ(Understood("LANG:en url:\"a b\""), "lang:en url:a url:b");
  EXPECT_EQ(Canonical(*ParseQuestion("x1 y1 lang:en")), "(x1 OR y1) lang:en");
  const Query query = Parsed("x1 after:2024");
  EXPECT_THAT(FilteredFields(query), ElementsAre("date"));
  ASSERT_THAT(query.parts, SizeIs(1));
  EXPECT_EQ(query.parts[0].kind, QueryPart::Kind::kField);
  EXPECT_EQ(query.parts[0].text, "after:2024");
  EXPECT_EQ(WithoutPart("x1 after:2024", query.parts[0]), "x1");
}

TEST(ParseQueryTest, TakesOtherValuesOfFieldsAsWords) {
  EXPECT_THAT(Parsed("x1 lang:python").notes, ElementsAre(HasSubstr("taken as words: lang:")));
  EXPECT_THAT(Parsed("x1 after:effects").notes, ElementsAre(HasSubstr("as 2024, 2024-03")));
  EXPECT_THAT(Parsed("x1 before:2024-13").notes, ElementsAre(HasSubstr("taken as words")));
  EXPECT_EQ(Understood("x1 after:effects"), "x1 effect | 1");
}

TEST(ParseQueryTest, SaysWhatNearCannotJoin) {
  for (const char* text : {"std::map NEAR x1", "(a1 b1) NEAR x1", "x1 NEAR vec*", "x1 NEAR x1",
                           "x1 NEAR -y1", "title:x1 NEAR y1", "x1 NEAR site:y1"}) {
    EXPECT_THAT(Parsed(text).notes, ElementsAre(HasSubstr("only understood between different")))
        << text;
  }
  EXPECT_EQ(Understood("std::map NEAR x1"), "\"std map\" x1 | 1");
  EXPECT_EQ(Canonical(*ParseQuestion("std::map NEAR x1 y1")), "\"std map\" x1 ~y1");
  for (const char* text : {"NEAR x1", "x1 NEAR", "NEAR", "x1 NEAR OR y1", "x1 NEAR NEAR y1"}) {
    EXPECT_THAT(Parsed(text).notes, Contains(HasSubstr("NEAR without words"))) << text;
  }
}

TEST(ParseQuestionTest, NearIsDemanded) {
  EXPECT_EQ(Canonical(*ParseQuestion("x1 NEAR/3 y1 z1")), "x1 NEAR/3 y1 ~z1");
  EXPECT_EQ(Canonical(*ParseQuestion("(x1 NEAR/3 y1) z1")), "x1 NEAR/3 y1 ~z1");
}

TEST(ParseQueryTest, SaysWhatItDoesNotUnderstand) {
  EXPECT_THAT(Parsed("vector author:knuth").notes, ElementsAre(HasSubstr("no field author:")));
  EXPECT_THAT(Parsed("vector NEAR/x map").notes, ElementsAre(HasSubstr("distance after NEAR/")));
  EXPECT_THAT(Parsed("vector NEAR/101 map").notes, ElementsAre(HasSubstr("from 1 to 100")));
  EXPECT_THAT(Parsed("vector~ map").notes, ElementsAre(HasSubstr("~ after a word")));
  EXPECT_THAT(Parsed("v?ctor").notes, ElementsAre(HasSubstr("wildcard ?")));
  EXPECT_THAT(Parsed("*ing").notes, ElementsAre(HasSubstr("wildcard *")));
  for (const char* text : {"url::parse", "url://x", "which? std::url near **kwargs ~vector",
                           "\"lang:en vec* NEAR\"", "error:x", "url:", "x?"}) {
    EXPECT_THAT(Parsed(text).notes, IsEmpty()) << text;
  }
  EXPECT_THAT(Parsed("((()))").notes, ElementsAre(HasSubstr("no word")));
}

TEST(ParseQueryTest, MatchesNothingForEmptyText) {
  EXPECT_TRUE(Parsed("").empty());
  EXPECT_THAT(Parsed("").notes, IsEmpty());
  EXPECT_EQ(Understood(" \t "), "");
  EXPECT_EQ(Understood("& *"), " | 2");
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

TEST(ParseQueryTest, CountsAPrefixAsTheWordsThatItMayStandFor) {
  std::string text;
  for (size_t i = 0; i < 1024 - 8 * kPrefixWordCount; ++i) text += "w" + std::to_string(i) + " ";
  std::string prefixes;
  for (char c = 'a'; c < 'i'; ++c) prefixes += std::string("pp") + c + "* ";
  EXPECT_TRUE(ParseQuery(text + prefixes).ok());
  EXPECT_FALSE(ParseQuery(text + prefixes + "x").ok());
  EXPECT_TRUE(ParseQuery(text + "x").ok());
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
  EXPECT_EQ(Canonical(*query),
            Canonical(Parsed("is OR vector OR and OR not OR list OR \"-vectors\" OR vectors")));
  EXPECT_EQ(Canonical(*AnyWordOf("what of it")), "+what OR +of OR +it");
  EXPECT_EQ(Canonical(*AnyWordOf("lists")), "list");
  EXPECT_TRUE(AnyWordOf(" ?! ")->empty());
}

TEST(AnyWordOfTest, WordsAreWantedAndCommonOnesNamed) {
  const auto query = AnyWordOf("the hash of \"a map\" -the");
  ASSERT_TRUE(query.ok());
  EXPECT_THAT(query->notes, ElementsAre("Common words were left out: the, of, a."));
  for (const ScoringWord& word : ScoringWords(*query)) EXPECT_TRUE(word.is_wanted) << word.term;
  EXPECT_THAT(AnyWordOf("hash map")->notes, IsEmpty());
  EXPECT_THAT(AnyWordOf("the of")->notes, IsEmpty());
  EXPECT_FALSE(AnyWordOf("hash")->root.is_wanted) << "no page can lack it";
}

TEST(AnyWordOfTest, RefusesTooMuch) {
  EXPECT_EQ(AnyWordOf(std::string(4097, 'x')).status().code(),
            neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(AnyWordOf("x y z", {.term_count_max = 2}).status().code(),
            neptune::StatusCode::kInvalidArgument);
}

// Canonical text of what a user typed; it is in the language of ParseQuery.
std::string Asked(std::string_view text) {
  const auto query = ParseQuestion(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return query.ok() ? Canonical(*query) : std::string();
}

TEST(ParseQuestionTest, WantsAllWordsAndDemandsNone) {
  EXPECT_EQ(Asked("git stash"), "git OR stash");
  EXPECT_EQ(Asked("vacuum vacuum table"), "vacuum vacuum OR tabl");
  EXPECT_EQ(Asked("how do I vacuum a table"), Canonical(*AnyWordOf("how do I vacuum a table")));
  EXPECT_EQ(Asked("vector"), "vector");
}

TEST(ParseQuestionTest, LetsTheOtherWordsScoreBesideDemandedOnes) {
  EXPECT_EQ(Asked("git +stash list"), "~git stash ~list");
  EXPECT_EQ(Asked("\"hash map\" iterator"), "\"hash map\" ~iter");
  EXPECT_EQ(Asked("title:hash map"), "title:hash ~map");
  EXPECT_EQ(Asked("+x x"), "x x");
  EXPECT_EQ(Asked("+x (y OR z)"), "x ~y ~z");
}

TEST(ParseQuestionTest, DemandsABracketThatDemandsOrNarrows) {
  EXPECT_EQ(Asked("+x (y z)"), "x ~y ~z");
  EXPECT_EQ(Asked("+x (title:w)"), "x title:w");
  EXPECT_EQ(Asked("x (+y)"), "~x y");
  EXPECT_EQ(Asked("+x (y -zz)"), "x y -zz");
  EXPECT_EQ(Asked("x (y -zz)"), "~x y -zz");
  EXPECT_EQ(Asked("+x (y site:s)"), "x y site:s");
  EXPECT_EQ(Asked("x (y site:s)"), "~x y site:s");
  EXPECT_EQ(Asked("+x (y AND z)"), "x y z");
  EXPECT_EQ(Asked("+x (\"v w\" y)"), "x \"v w\" ~y");
  EXPECT_EQ(Asked("+x (y OR -zz)"), "x ~y");
  EXPECT_EQ(Asked("+x (y OR (z -ww))"), "x (y OR z -ww)");
  EXPECT_EQ(Asked("(std::map) x"), "std OR map OR x");
}

TEST(ParseQuestionTest, UsesOnlyTheWordsOfAnOptionalBracket) {
  const auto query = ParseQuestion("+x ~(y -zz site:s)");
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(Canonical(*query), "x ~y");
  EXPECT_TRUE(query->parts.empty());
  EXPECT_EQ(query->notes.size(), 1u);
}

TEST(ParseQuestionTest, DemandsBothSidesOfAnd) {
  EXPECT_EQ(Asked("mutex AND deadlock"), "mutex deadlock");
  EXPECT_EQ(Asked("x AND y z"), "x y ~z");
  EXPECT_EQ(Asked("(x AND y) OR z"), "x y OR z");
}

TEST(ParseQuestionTest, FiltersAndExcludes) {
  EXPECT_EQ(Asked("vector list site:s"), "(vector OR list) site:s");
  EXPECT_EQ(Asked("vector site:s"), "vector site:s");
  EXPECT_EQ(Asked("x y -zz"), "(x OR y) -zz");
  EXPECT_EQ(Asked("x y NOT z"), "(x OR y) NOT z");
  EXPECT_EQ(Asked("x -(y z)"), "x -(y z)");
  EXPECT_EQ(Asked("x -(y ~z)"), "x -(y z)");
}

TEST(ParseQuestionTest, TakesACompoundApartBesideOtherWords) {
  EXPECT_EQ(Asked("std::vector"), "\"std vector\"");
  EXPECT_EQ(Asked("std::map vs std::vector"), "std std OR map OR vs OR vector");
  EXPECT_EQ(Asked("+std::map vs"), "\"std map\" ~vs");
  EXPECT_EQ(Asked("(\"x y\") z"), "\"x y\" ~z");
}

TEST(ParseQuestionTest, WantsSignsNamesAndPrefixes) {
  EXPECT_EQ(Asked("git commit --amend -m"), "git OR commit OR --amend OR -m");
  EXPECT_EQ(Asked("operator<< -> __init__"), "operator<< OR -> OR __init__");
  EXPECT_EQ(Asked("x ~* ~~ >="), "x OR ~* OR ~~ OR >=");
  EXPECT_EQ(Asked("vec* list"), "vec* OR list");
  EXPECT_EQ(Asked("vec*"), "vec*");
  EXPECT_EQ(Asked("vec* +list"), "~vec* list");
  EXPECT_EQ(Asked("+vec* list"), "vec* ~list");
  EXPECT_EQ(Asked("title:vec* list"), "title:vec* ~list");
  EXPECT_EQ(Asked("\u00e9*"), "e");
  EXPECT_EQ(Asked("-> \"-Wall\" ~* \"hash map\""), "~\"->\" \"-wall\" ~\"~*\" \"hash map\"");
  EXPECT_EQ(Asked("O(n log n) sort"), "o OR n n OR log OR sort");
}

TEST(ParseQuestionTest, KeepsShares) {
  EXPECT_EQ(Asked("vector^0.5 list"), "vector^0.5 OR list");
  EXPECT_THAT(ParseQuestion("2^0.5 list")->notes,
              ElementsAre("“2” counts 50 % of its usual score, as the “^” after it asks."));
  EXPECT_THAT(ParseQuestion("2^2 list")->notes, IsEmpty());
  EXPECT_EQ(Asked("vector^0.5 +list"), "~vector^0.5 list");
  EXPECT_EQ(Asked("std::map^0.5 list"), "std^0.5 OR map^0.5 OR list");
}

TEST(ParseQuestionTest, ListsItsParts) {
  const auto query = ParseQuestion("vector list -java site:git");
  ASSERT_TRUE(query.ok());
  ASSERT_EQ(query->parts.size(), 2u);
  EXPECT_EQ(query->parts[0].text, "java");
  EXPECT_EQ(query->parts[1].kind, QueryPart::Kind::kSite);
}

TEST(ParseQuestionTest, MarksTheWordsThatWereNotDemanded) {
  const auto query = ParseQuestion("git +stash (x y) (v OR w) \"v w\"");
  ASSERT_TRUE(query.ok());
  std::string wanted;
  for (const ScoringWord& word : ScoringWords(*query)) {
    if (word.is_wanted) wanted += word.surface + " ";
  }
  EXPECT_EQ(wanted, "git x y ");
  EXPECT_FALSE(ScoringWords(*ParseQuestion("mutex OR lock"))[0].is_wanted);
  EXPECT_TRUE(ScoringWords(*ParseQuestion("mutex lock"))[0].is_wanted);
}

TEST(ParseQueryTest, ReadsOptionalWords) {
  EXPECT_EQ(Understood("~x y"), "~x y");
  EXPECT_EQ(Understood("~x ~y"), "x OR y");
  EXPECT_EQ(Understood("~x"), "x");
  EXPECT_EQ(Understood("~x x"), "x x");
  EXPECT_EQ(Understood("~the x"), "~the x");
  EXPECT_EQ(Understood("~title:x y"), "~title:x y");
  EXPECT_EQ(Understood("~vec*^0.5 y"), "~vec*^0.5 y");
  EXPECT_EQ(Understood("~--help y"), "~\"--help\" y");
  EXPECT_EQ(Understood("~* y"), "~* y");
  EXPECT_EQ(Understood("~~ y"), "~~ y");
  EXPECT_EQ(Understood("~\"x y\" z"), "~x ~y z");
  EXPECT_FALSE(Parsed("~x y") == Parsed("x y"));
  EXPECT_FALSE(IsSameSet(Parsed("~x y").root, Parsed("x y").root));
}

TEST(PositiveLeavesTest, SkipsExclusionsAndSites) {
  const Query query = Parsed("x (y OR \"v w\") -zz site:s");
  const std::vector<const QueryNode*> leaves = PositiveLeaves(query);
  ASSERT_THAT(leaves, SizeIs(3));
  EXPECT_EQ(leaves[0]->term, "x");
  EXPECT_EQ(leaves[2]->kind, Kind::kPhrase);
}

TEST(SiteFiltersTest, AreOutsideExclusions) {
  EXPECT_THAT(SiteFilters(Parsed("x (site:a OR site:B-c) -site:d site:a")),
              ElementsAre("a", "b-c"));
  EXPECT_THAT(SiteFilters(Parsed("x")), IsEmpty());
}

TEST(ScoringWordsTest, StandOnceInTheQuerysOrder) {
  const std::vector<ScoringWord> words =
      ScoringWords(Parsed("x (y OR \"v x\") title:x -zz site:s y"));
  std::string text;
  for (const ScoringWord& word : words) {
    text += (word.title_only ? "title:" : "") + word.term + std::to_string(word.occurrences) + " ";
  }
  EXPECT_EQ(text, "x2 y2 v1 title:x1 ");
}

TEST(QueryExamplesTest, EachParsesWithoutRepair) {
  std::set<std::string_view> syntaxes;
  for (const QueryExample& example : QueryExamples()) {
    const Query query = *ParseQuestion(example.query);
    EXPECT_FALSE(query.empty()) << example.query;
    EXPECT_THAT(query.notes, IsEmpty()) << example.query;
    EXPECT_EQ(Parsed(Canonical(query)), query) << example.query;
    EXPECT_FALSE(example.meaning.empty());
    EXPECT_TRUE(syntaxes.insert(example.syntax).second) << example.syntax;
  }
}

TEST(QueryExamplesTest, MeanWhatTheySay) {
  EXPECT_EQ(Asked("git commit -m"), "git OR commit OR -m");
  EXPECT_EQ(Parsed("operator<<").root.term, "operator<<");
  EXPECT_EQ(Asked("create index concurrently"), "creat OR index OR concurr");
  EXPECT_EQ(Asked("mutex AND deadlock"), "mutex deadlock");
  EXPECT_EQ(Asked("git +stash"), "~git stash");
  EXPECT_EQ(Asked("iterator -(java OR python)"), "iter -(java OR python)");
  EXPECT_EQ(Asked("title:(hash map)"), "title:hash title:map");
  EXPECT_EQ(Asked("vector -site:cppreference"), "vector -site:cppreference");
}

}  // namespace
}  // namespace search::index
