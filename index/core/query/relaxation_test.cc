#include "index/core/query/relaxation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "index/core/query/query_invariants.h"
#include "index/core/query/scoring_words.h"
#include "index/core/query/synonyms.h"

namespace search::index {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::optional<Relaxation> Relaxed(const std::string& question, const std::string& synonyms = {}) {
  auto query = ParseQuestion(question);
  EXPECT_TRUE(query.ok()) << query.status();
  if (!synonyms.empty()) SynonymSets::Parse(synonyms)->Expand(&*query);
  return Relax(*query);
}

// The canonical text of the relaxed question; "same" if there is none.
std::string Text(const std::string& question, const std::string& synonyms = {}) {
  const auto relaxed = Relaxed(question, synonyms);
  if (!relaxed.has_value()) return "same";
  EXPECT_EQ(BrokenInvariant(relaxed->query.root), "") << question;
  const std::string canonical = Canonical(relaxed->query);
  const auto again = ParseQuery(canonical, ParseLimits::ForCanonical());
  EXPECT_TRUE(again.ok() && *again == relaxed->query) << canonical;
  return canonical;
}

TEST(RelaxationTest, DemandsBecomeWishes) {
  EXPECT_EQ(Text("\"hash map\""), "hash OR map");
  EXPECT_EQ(Text("iterator \"hash map\""), "iter OR hash OR map");
  EXPECT_EQ(Text("git +stash"), "git OR stash");
  EXPECT_EQ(Text("mutex AND deadlock"), "mutex OR deadlock");
  EXPECT_EQ(Text("mutex NEAR deadlock"), "mutex OR deadlock");
  EXPECT_EQ(Text("(mutex OR \"spin lock\") AND deadlock"), "mutex OR spin OR lock OR deadlock");
  EXPECT_EQ(Text("title:vector"), "vector");
  EXPECT_EQ(Text("title:\"hash map\" vec*"), "hash OR map OR vec*");
  EXPECT_EQ(Text("utf-8"), "utf OR 8") << "a name is a phrase, if alone";
}

TEST(RelaxationTest, WithoutDemandsNothingIsLeftToRelax) {
  for (const char* question :
       {"", "git stash", "vector", "+vector", "vector site:x", "vector -list", "site:x", "vec*",
        "mutex OR lock", "git stash lang:en -x1"}) {
    EXPECT_EQ(Text(question), "same") << question;
  }
}

TEST(RelaxationTest, FiltersAndExclusionsStay) {
  EXPECT_EQ(Text("+stash \"hash map\" lists site:git -java"),
            "(stash OR hash OR map OR list) site:git -java");
  EXPECT_EQ(Text("\"a1 b1\" site:git"), "(a1 OR b1) site:git");
  EXPECT_EQ(Text("(\"a1 b1\" site:x) OR (c1 d1 site:y)"), "(a1 OR b1) site:x OR (c1 OR d1) site:y");
  EXPECT_EQ(Text("\"a1 b1\" -\"c1 d1\""), "(a1 OR b1) -\"c1 d1\"");
}

TEST(RelaxationTest, CommonWordsAreLeftOutIfOthersRemain) {
  EXPECT_EQ(Text("\"the hash of a map\""), "hash OR map");
  EXPECT_EQ(Text("\"to be\""), "+to OR +be");
}

TEST(RelaxationTest, NamesWhatIsDemanded) {
  EXPECT_THAT(Relaxed("\"Hash Map\" of lists")->demands, ElementsAre("\"Hash Map\""));
  EXPECT_THAT(Relaxed("git +Stash title:x1")->demands, ElementsAre("Stash", "title:x1"));
  EXPECT_THAT(Relaxed("mutex AND (dead* OR \"live lock\")")->demands,
              ElementsAre("mutex", "dead* OR \"live lock\""));
  EXPECT_THAT(Relaxed("mutex NEAR/3 lock -x1 site:y1")->demands, ElementsAre("mutex NEAR lock"));
}

TEST(RelaxationTest, NamesAreBounded) {
  std::string question;
  for (int i = 0; i < 100; ++i) question += "+x" + std::to_string(i) + " ";
  EXPECT_EQ(Relaxed(question)->demands.size(), kDemandsMax);
  question = "\"";
  for (int i = 0; i < 100; ++i) question += "x" + std::to_string(i) + " ";
  EXPECT_LT(Relaxed(question + "\"")->demands[0].size(), kDemandSizeMax + 20);
}

TEST(RelaxationTest, SynonymsStaySynonyms) {
  const std::string sets = "0.5: pg, post gres\n";
  EXPECT_EQ(Text("pg \"full text\"", sets), "pg OR post^0.5 OR gres^0.5 OR full OR text");
  EXPECT_EQ(Text("pg AND vacuum", sets), "pg OR post^0.5 OR gres^0.5 OR vacuum");
  const auto relaxed = Relaxed("pg AND vacuum", sets);
  EXPECT_THAT(relaxed->demands, ElementsAre("pg", "vacuum"));
  std::vector<std::string> wanted;
  for (const ScoringWord& word : ScoringWords(relaxed->query)) {
    if (word.is_wanted) wanted.push_back(word.surface);
  }
  EXPECT_THAT(wanted, ElementsAre("pg", "vacuum"));
}

}  // namespace
}  // namespace search::index
