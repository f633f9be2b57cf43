#include "index/core/query/synonyms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "index/core/query/query_invariants.h"
#include "index/core/query/scoring_words.h"
#include "neptune/base/file.h"

namespace search::index {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kFile =
    "# names\n"
    "0.6: postgres, PostgreSQL, pg  # one of them\n"
    "\n"
    "0.75:utf8,utf 8\r\n"
    "0.05: run time, runtime";

SynonymSets Parsed(std::string_view file = kFile) {
  auto sets = SynonymSets::Parse(file);
  EXPECT_TRUE(sets.ok()) << sets.status();
  return sets.ok() ? *std::move(sets) : SynonymSets();
}

using Parse = neptune::StatusOr<Query> (*)(std::string_view, const ParseLimits&);

Query Expanded(std::string_view text, Parse parse = &ParseQuery) {
  auto query = parse(text, {});
  EXPECT_TRUE(query.ok()) << query.status();
  Parsed().Expand(&*query);
  EXPECT_EQ(BrokenInvariant(query->root), "") << text;
  const std::string canonical = Canonical(*query);
  const auto again = ParseQuery(canonical, ParseLimits::ForCanonical());
  EXPECT_TRUE(again.ok()) << canonical;
  EXPECT_EQ(*again, *query) << canonical;
  return *std::move(query);
}

std::string Text(std::string_view text) { return Canonical(Expanded(text)); }
// The text of what a user typed.
std::string Asked(std::string_view text) { return Canonical(Expanded(text, &ParseQuestion)); }

TEST(SynonymsTest, AreAlternativesAtTheirShare) {
  EXPECT_EQ(Text("postgres json"), "(postgr OR postgresql^0.6 OR pg^0.6) json");
  EXPECT_EQ(Text("POSTGRESQL"), "postgresql OR postgr^0.6 OR pg^0.6");
  EXPECT_EQ(Text("x OR pg"), "x OR pg OR postgr^0.6 OR postgresql^0.6");
}

TEST(SynonymsTest, MayBePhrases) {
  EXPECT_EQ(Text("utf8"), "utf8 OR \"utf 8\"^0.75");
  EXPECT_EQ(Text("utf-8 x"), "(\"utf 8\" OR utf8^0.75) x");
  EXPECT_EQ(Text("runtime"), "runtim OR \"run time\"^0.05");
}

TEST(SynonymsTest, KeepFieldAndOccurrences) {
  EXPECT_EQ(Text("title:pg"), "title:pg OR title:postgr^0.6 OR title:postgresql^0.6");
  EXPECT_EQ(Text("pg pg x"), "(pg pg OR postgr^0.6 postgr^0.6 OR postgresql^0.6 postgresql^0.6) x");
}

TEST(SynonymsTest, AreNotAddedBesideThemselves) {
  EXPECT_EQ(Text("pg OR postgres"), "pg OR postgresql^0.6 OR postgr");
  EXPECT_EQ(Text("pg postgres"), "(pg OR postgresql^0.6) (postgr OR postgresql^0.6)");
  EXPECT_EQ(Asked("pg +postgres"), "~pg ~postgresql^0.6 postgr");
  EXPECT_EQ(Text("pg OR title:postgres"),
            "pg OR postgr^0.6 OR postgresql^0.6 OR title:postgr OR title:postgresql^0.6 OR "
            "title:pg^0.6");
}

TEST(SynonymsTest, OfWantedWordsAreWanted) {
  EXPECT_EQ(Asked("postgres json"), "postgr OR postgresql^0.6 OR pg^0.6 OR json");
  EXPECT_EQ(Asked("pg \"full text\""), "~pg ~postgr^0.6 ~postgresql^0.6 \"full text\"");
  EXPECT_EQ(Asked("utf8 +decode"), "~utf8 ~utf^0.75 ~8^0.75 decod");
  EXPECT_EQ(Asked("utf8 decode"), "utf8 OR \"utf 8\"^0.75 OR decod");
  EXPECT_EQ(Asked("+pg json"), "pg ~json");
  EXPECT_EQ(Asked("pg AND json"), "(pg OR postgr^0.6 OR postgresql^0.6) json");
  EXPECT_EQ(Asked("vec* pg"), "vec* OR pg OR postgr^0.6 OR postgresql^0.6");
}

TEST(SynonymsTest, AreScoringWordsOfTheWordThatTheyStandFor) {
  for (const char* text : {"utf8 decode pg", "utf8 decode pg +x"}) {
    auto query = ParseQuestion(text);
    ASSERT_TRUE(query.ok());
    Parsed().Expand(&*query);
    const std::vector<ScoringWord> words = ScoringWords(*query);
    ASSERT_GE(words.size(), 7u) << text;
    EXPECT_EQ(words[0].surface, "utf8");
    EXPECT_TRUE(words[0].is_wanted);
    EXPECT_THAT(words[0].synonyms, ElementsAre(ElementsAre(1u, 2u)));
    EXPECT_TRUE(words[1].is_synonym);
    EXPECT_FALSE(words[1].is_wanted);
    EXPECT_THAT(words[3].synonyms, IsEmpty());
    EXPECT_THAT(words[4].synonyms, ElementsAre(ElementsAre(5u), ElementsAre(6u)));
  }
}

TEST(SynonymsTest, LeaveExactWordsExclusionsAndOthersAlone) {
  for (const char* text : {"\"pg\"", "+pg", "x -postgres", "site:pg x", "nothing", ""}) {
    const Query query = Expanded(text);
    EXPECT_EQ(query, *ParseQuery(text)) << text;
  }
  EXPECT_THAT(Expanded("\"pg\" x").notes, IsEmpty());
}

TEST(SynonymsTest, AreNamedInANote) {
  EXPECT_THAT(Expanded("pg x").notes,
              ElementsAre(AllOf(HasSubstr("“postgres”, “PostgreSQL”"), HasSubstr("“pg”"))));
}

TEST(SynonymsTest, KeepTheQueryWithinItsLimit) {
  std::string text;
  for (int i = 0; i < 1020; ++i) text += "w ";
  const Query query = Expanded(text + "pg runtime");
  EXPECT_TRUE(ParseQuery(Canonical(query), ParseLimits::ForCanonical()).ok());
  EXPECT_THAT(query.root.children, SizeIs(3));
}

TEST(SynonymsTest, RefusesWrongLines) {
  const std::pair<const char*, const char*> wrong[] = {
      {"a, b", "line 1: expected a share"},      {"1.0: a, b", "line 1: expected a share"},
      {"0.0: a, b", "line 1: expected a share"}, {"\n0.5: a", "line 2: 1 words"},
      {"0.5: a, &", "'&' is not a word"},        {"0.5: a, b\n0.5: c, A", "'A' occurs a second"},
      {"0.5: a, \"b", "is not a word"},          {"0.5: a,b,c,d,e,f,g,h,i", "9 words"},
      {"0.5: a, , b", "'' is not a word"}};
  for (const auto& [file, message] : wrong) {
    const auto sets = SynonymSets::Parse(file);
    EXPECT_EQ(sets.status().code(), neptune::StatusCode::kInvalidArgument) << file;
    EXPECT_THAT(sets.status().ToString(), HasSubstr(message));
  }
  EXPECT_FALSE(SynonymSets::Parse(std::string(kSynonymFileSizeMax + 1, ' ')).ok());
}

TEST(SynonymsTest, TheDocumentationsFileIsValid) {
  const auto text = neptune::ReadFile("data/corpora/documentation.synonyms", kSynonymFileSizeMax);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_GT(Parsed(*text).set_count(), 20u);
}

}  // namespace
}  // namespace search::index
